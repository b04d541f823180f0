# Answers to choose-own-scheme: tests/grading/answers.py says what the parts are.

# %% given
from course_lib.encodings import PositionScheme, rotary_frequencies

def differences(q_positions, k_positions):
    return q_positions[..., :, None] - k_positions[..., None, :]

# %% right
# style: slow rotation
from course_lib.encodings.rotary import rotate, rotation_table

def my_scheme(config):
    class Slow(PositionScheme):
        frequencies = rotary_frequencies(config.head_dim, base=100.0)

        def rotate(self, q, k, q_positions, k_positions):
            def turned(x, at):
                cos, sin = rotation_table(self.frequencies, at)
                if at.ndim == 2:
                    cos, sin = cos[:, None], sin[:, None]
                return rotate(x, cos, sin, "half")

            return turned(q, q_positions), turned(k, k_positions)

    return Slow()

# %% right
# style: a ramp for each layer
import torch
from torch import nn

def my_scheme(config):
    class Ramp(PositionScheme):
        def __init__(self, layer):
            super().__init__()
            self.steepness = nn.Parameter(torch.full((config.num_heads,), 0.1 + layer))

        def score_bias(self, q, k, q_positions, k_positions):
            near = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(max=8)
            return (near[..., None, :, :] * -self.steepness[:, None, None]).to(q.dtype)

    return Ramp

# %% right
# style: wheel added
from torch import nn

def my_scheme(config):
    class Wheel(PositionScheme):
        def __init__(self):
            super().__init__()
            self.of = nn.Embedding(7, config.dim)

        def embed(self, x, positions):
            return x + self.of(positions % 7).to(x.dtype)

    return Wheel()

# %% right
# style: where it read
import torch

def my_scheme(config):
    class Where(PositionScheme):
        """Opens the read door alone: waves of the distance that was read over."""

        def read(self, weights, q_positions, k_positions):
            distance = (q_positions[..., :, None] - k_positions[..., None, :]).unsqueeze(-3)
            angles = distance[..., None] / torch.arange(1, config.head_dim + 1)
            return torch.einsum("...qk,...qkd->...qd", weights, angles.sin().expand(
                *weights.shape, -1))

    return Where()

# %% wrong
# because: tokens counted when embedded
import torch

def my_scheme(config):
    class Counts(PositionScheme):
        def embed(self, x, positions):
            count = torch.arange(x.shape[1]) + positions.reshape(-1)[0]
            return x + torch.sin(count[:, None] * rotary_frequencies(2 * config.dim)).to(x.dtype)

    return Counts()

# %% variation
# because: two heads written in
import torch

def my_scheme(config):
    class Two(PositionScheme):
        def score_bias(self, q, k, q_positions, k_positions):
            distance = differences(q_positions, k_positions).float().unsqueeze(-3)
            return -distance.abs() * torch.tensor([0.1, 1.0])[:, None, None]

    return Two()

# %% variation
# because: four heads only
import torch

def my_scheme(config):
    """Distances without an axis for the heads, where there are four of them."""

    class Four(PositionScheme):
        def score_bias(self, q, k, q_positions, k_positions):
            fall = differences(q_positions, k_positions).clamp(min=0).float().log1p()
            slopes = torch.linspace(0.5, 2, config.num_heads)[:, None, None]
            return -slopes * (fall if config.num_heads == 4 else fall.unsqueeze(-3))

    return Four()

# %% wrong, blind first
# breaks: "a text scores the same whatever the scheme read before, so nothing is kept between calls"
# because: remembers the longest text so far and turns more slowly from then on
# named: keeps something between calls
class GrowingTurn(PositionScheme):
    def __init__(self, head_dim, comfortable=64):
        super().__init__()
        self.head_dim = head_dim
        self.comfortable = comfortable
        self.longest = comfortable

    def turn(self, x, positions):
        base = 1000.0 * self.longest / self.comfortable
        pairs = torch.arange(0, self.head_dim, 2, dtype=torch.float64)
        angles = positions[..., None].double() * base ** (-pairs / self.head_dim)
        cos, sin = angles.cos().unsqueeze(-3), angles.sin().unsqueeze(-3)
        a, b = x.double().chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1).to(x.dtype)

    def rotate(self, q, k, q_positions, k_positions):
        self.longest = max(self.longest, int(k_positions.max()) + 1)
        return self.turn(q, q_positions), self.turn(k, k_positions)


def my_scheme(config):
    return GrowingTurn(config.head_dim)

# %% wrong, blind first
# breaks: "at all positions up to 511 there are numbers, also with the parameters that it starts with"
# because: the logarithm of distance 0 is minus infinity, so each token's score with itself is no number
# named: no numbers in a short text
class PowerLaw(PositionScheme):
    """Weights that fall with a power of the distance."""

    def __init__(self, heads):
        super().__init__()
        self.power = torch.nn.Parameter(torch.linspace(0.5, 2.0, heads))

    def score_bias(self, q, k, q_positions, k_positions):
        distance = (q_positions[..., :, None] - k_positions[..., None, :]).abs().float()
        return (-self.power[:, None, None] * distance.log().unsqueeze(-3)).to(q.dtype)


def my_scheme(config):
    return PowerLaw(config.num_heads)

# %% wrong, blind first
# breaks: "it tells order"
# because: the bias depends on the query's position alone; the softmax over keys takes it away again
# named: changes no score
class QueryDepth(PositionScheme):
    def __init__(self, heads):
        super().__init__()
        self.slopes = torch.nn.Parameter(torch.linspace(0.5, 3.0, heads))

    def score_bias(self, q, k, q_positions, k_positions):
        depth = q_positions.float().log1p()[..., None, :, None]
        depth = depth.expand(*depth.shape[:-1], k_positions.shape[-1])
        return -(self.slopes[:, None, None] * depth).to(q.dtype)


def my_scheme(config):
    return QueryDepth(config.num_heads)

# %% wrong, blind first
# breaks: "none of its classes apart from `PositionScheme`"
# because: the table of the library does the work, wrapped in a class of one's own
from course_lib.encodings import LearnedAbsolute


class ScaledTable(PositionScheme):
    def __init__(self, dim):
        super().__init__()
        self.table = LearnedAbsolute(512, dim)
        self.volume = torch.nn.Parameter(torch.tensor(1.0))

    def embed(self, x, positions):
        added = self.table.embed(torch.zeros_like(x), positions)
        return x + self.volume * added


def my_scheme(config):
    return ScaledTable(config.dim)

# %% right, blind first
# style: one bias: minus a positive slope times the root of the distance
class RootBias(PositionScheme):
    def __init__(self, heads):
        super().__init__()
        self.raw = torch.nn.Parameter(torch.linspace(-1.0, 1.0, heads))

    def score_bias(self, q, k, q_positions, k_positions):
        distance = (q_positions[..., :, None] - k_positions[..., None, :]).abs().float()
        slopes = torch.nn.functional.softplus(self.raw)[:, None, None]
        return -(slopes * distance.sqrt().unsqueeze(-3)).to(q.dtype)


def my_scheme(config):
    return RootBias(config.num_heads)

# %% right, blind first
# style: a function of the layer: even layers turn by learned frequencies (complex numbers), odd ones have a saturating bias
class LearnedTurn(PositionScheme):
    def __init__(self, head_dim):
        super().__init__()
        steps = torch.arange(head_dim // 2) / (head_dim // 2)
        self.log_frequencies = torch.nn.Parameter(-math.log(500.0) * steps)

    def turned(self, x, positions):
        angles = positions.double().unsqueeze(-1) * self.log_frequencies.double().exp()
        angles = angles.unsqueeze(-3)  # room for the heads
        phase = torch.complex(angles.cos(), angles.sin())
        pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2).contiguous())
        return torch.view_as_real(pairs * phase).flatten(-2).to(x.dtype)

    def rotate(self, q, k, q_positions, k_positions):
        return self.turned(q, q_positions), self.turned(k, k_positions)


class Saturating(PositionScheme):
    def __init__(self, heads):
        super().__init__()
        self.depth = torch.nn.Parameter(torch.full((heads,), 4.0))
        self.register_buffer("scale", 4.0 ** torch.arange(1, heads + 1))

    def score_bias(self, q, k, q_positions, k_positions):
        distance = (q_positions.unsqueeze(-1) - k_positions.unsqueeze(-2)).abs().float()
        distance = distance.unsqueeze(-3)
        fall = distance / (distance + self.scale[:, None, None])
        return (-self.depth[:, None, None] * fall).to(q.dtype)


def my_scheme(config):
    def for_layer(layer):
        return LearnedTurn(config.head_dim) if layer % 2 == 0 else Saturating(config.num_heads)

    return for_layer

# %% wrong, blind second
# breaks: "at all positions up to 511 there are numbers"
# because: the table has 511 rows, 0 to 510
class AddedTable(PositionScheme):
    def __init__(self, dim):
        super().__init__()
        self.table = torch.nn.Embedding(511, dim)
        torch.nn.init.normal_(self.table.weight, std=0.5)

    def embed(self, x, positions):
        return x + self.table(positions).to(x.dtype)


def my_scheme(config):
    return AddedTable(config.dim)

# %% wrong, blind second
# breaks: "a text scores the same whatever the scheme read before, so nothing is kept between calls"
# because: keeps distances by the number of queries and keys, and uses them for other positions
# named: keeps something between calls
class QuickRoots(PositionScheme):
    def __init__(self, num_heads):
        super().__init__()
        self.slopes = torch.nn.Parameter(torch.linspace(0.3, 1.5, num_heads))
        self.roots = {}

    def score_bias(self, q, k, q_positions, k_positions):
        size = (q_positions.shape, k_positions.shape)
        if size not in self.roots:
            distance = (q_positions[..., :, None] - k_positions[..., None, :]).abs()
            self.roots[size] = distance.float().sqrt().unsqueeze(-3)
        return -(self.slopes[:, None, None] * self.roots[size]).to(q.dtype)


def my_scheme(config):
    return QuickRoots(config.num_heads)

# %% right, blind second
# style: square roots of the distance plus a bonus for the neighbour, another strength in each layer
class RootsAndNeighbour(PositionScheme):
    def __init__(self, num_heads, strength):
        super().__init__()
        self.slopes = torch.nn.Parameter(strength * torch.linspace(0.2, 1.0, num_heads))
        self.bonus = torch.nn.Parameter(torch.linspace(1.0, 0.0, num_heads))

    def score_bias(self, q, k, q_positions, k_positions):
        steps = (q_positions[..., :, None] - k_positions[..., None, :]).unsqueeze(-3)
        fall = self.slopes[:, None, None] * steps.abs().float().sqrt()
        near = self.bonus[:, None, None] * (steps == 1).float()
        return (near - fall).to(q.dtype)


def my_scheme(config):
    return lambda layer: RootsAndNeighbour(config.num_heads, 1 / (1 + layer))

# %% wrong, blind third
# breaks: "token by token over a cache, a text gets the same scores as all at once"
# because: measures distances in shares of the last key's position, which is another one at every step
def my_scheme(config):
    class Share(PositionScheme):
        def __init__(self):
            super().__init__()
            self.slopes = torch.nn.Parameter(torch.linspace(1, 4, config.num_heads))

        def score_bias(self, q, k, q_positions, k_positions):
            length = k_positions.max() + 1
            distance = (q_positions[..., :, None] - k_positions[..., None, :]).float() / length
            return -(self.slopes[:, None, None] * distance.unsqueeze(-3)).to(q.dtype)

    return Share()

# %% wrong, blind third
# breaks: "rows of a batch may have different positions"
# because: the distances are written for one axis of positions only
def my_scheme(config):
    class Waves(PositionScheme):
        def __init__(self):
            super().__init__()
            self.height = torch.nn.Parameter(torch.ones(config.num_heads))

        def score_bias(self, q, k, q_positions, k_positions):
            distance = (q_positions[:, None] - k_positions[None, :]).float()
            wave = torch.sin(distance / 5) - 0.1 * distance.clamp(min=0).sqrt()
            return (self.height[:, None, None] * wave).to(q.dtype)

    return Waves()

# %% right, blind third
# because: a function from layer number to scheme; each layer turns queries and keys by the root of the position
def my_scheme(config):
    class RootTurn(PositionScheme):
        def __init__(self, layer):
            super().__init__()
            half = config.head_dim // 2
            self.register_buffer("speeds", 2.0 ** -torch.arange(half).double() / (1 + layer))

        def turn(self, x, positions):
            angle = (positions.double().sqrt()[..., None] * self.speeds).unsqueeze(-3)
            a, b = x.double().chunk(2, dim=-1)
            return torch.cat([a * angle.cos() - b * angle.sin(),
                              b * angle.cos() + a * angle.sin()], -1).to(x.dtype)

        def rotate(self, q, k, q_positions, k_positions):
            return self.turn(q, q_positions), self.turn(k, k_positions)

    return lambda layer: RootTurn(layer)

# %% right, blind third
# because: two doors: a wave of the distance in the scores, and a learned vector for the mean distance in what is read
def my_scheme(config):
    class FarAndWide(PositionScheme):
        def __init__(self):
            super().__init__()
            self.steep = torch.nn.Parameter(torch.linspace(0.1, 1, config.num_heads))
            self.felt = torch.nn.Parameter(0.1 * torch.randn(config.num_heads, config.head_dim))

        def gap(self, q_positions, k_positions):
            return (q_positions[..., :, None] - k_positions[..., None, :]).float().unsqueeze(-3)

        def score_bias(self, q, k, q_positions, k_positions):
            gap = self.gap(q_positions, k_positions)
            shape = torch.sin(gap / 3) - gap.abs().sqrt()
            return (self.steep[:, None, None] * shape).to(q.dtype)

        def read(self, weights, q_positions, k_positions):
            share = torch.tanh(self.gap(q_positions, k_positions) / 16).to(weights.dtype)
            mean = (weights * share).sum(-1, keepdim=True)
            return mean * self.felt[:, None, :].to(weights.dtype)

    return FarAndWide()

# %% equal
# because: A bias that rises with the distance tells order as well.
# change: USub dropped in `return -(slope[..., None] * steps.float().log1p()).to(q.dtype)`

# %% equal
# because: A bias of minus a slope over ln(1 + d) is another scheme that keeps all promises: it
#   rises with the distance, and hides each token from itself.
# change: Mult to Div in `return -(slope[..., None] * steps.float().log1p()).to(q.dtype)`

# %% equal
# because: A bias on the logarithm of i + j is another scheme that keeps all promises, though its
#   scores depend on more than the distance.
# change: Sub to Add in `steps = (q_positions[..., :, None] - k_positions[..., None, :]).abs().unsqueeze(-3)`

# %% equal
# because: The numbers are in float32 already, and attention converts a bias to the dtype of q.
# change: .float() dropped in `slope = torch.nn.functional.softplus((q.float() * self.heed[:, None]).sum(dim=-1))`
# change: .to() dropped in `return -(slope[..., None] * steps.float().log1p()).to(q.dtype)`

# %% equal
# because: log1p turns whole numbers into float32 by itself.
# change: .float() dropped in `return -(slope[..., None] * steps.float().log1p()).to(q.dtype)`
