# %% wrong choose-own-scheme
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


# %% wrong choose-own-scheme
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


# %% right choose-own-scheme
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


# %% right choose-own-scheme
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
