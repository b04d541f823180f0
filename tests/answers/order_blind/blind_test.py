# Answers to blind-test: tests/grading/answers.py says what the parts are.

# %% given
import torch

ORDER = torch.tensor([6, 2, 0, 5, 1, 3, 4])

def both_sides(layer, batch=3, dim=4, order=ORDER):
    x = torch.randn(batch, 7, dim, generator=torch.Generator().manual_seed(1))
    return layer(x[:, order]), layer(x)[:, order]

# %% right
# style: order blind by loops
def test_order_blind(layer):
    torch.manual_seed(1)
    for _ in range(5):
        x = torch.randn(2, 6, 3)
        order = torch.randperm(6)
        if order.equal(torch.arange(6)):
            continue
        before, after = layer(x), layer(x[:, order])
        for new, old in enumerate(order.tolist()):
            if (after[:, new] - before[:, old]).abs().max() > 1e-4:
                raise AssertionError(f"token {old} reads something else at place {new}")

# %% right
# style: order blind by swaps
def test_order_blind(layer):
    x = torch.arange(24.0).reshape(2, 4, 3).sin()
    for order in ([1, 0, 2, 3], [0, 1, 3, 2], [3, 1, 2, 0], [1, 2, 3, 0]):
        assert torch.allclose(layer(x[:, order]), layer(x)[:, order], rtol=0, atol=1e-4)

# %% variation
# because: gives one text
def test_order_blind(layer):
    a, b = both_sides(layer, batch=1)
    assert torch.allclose(a, b, atol=1e-5)

# %% variation
# because: compares the first number
def test_order_blind(layer):
    a, b = both_sides(layer)
    assert torch.allclose(a[..., 0], b[..., 0], atol=1e-5)

# %% variation
# because: compares the first token
def test_order_blind(layer):
    a, b = both_sides(layer)
    assert torch.allclose(a[:, 0], b[:, 0], atol=1e-5)

# %% variation
# because: compares the fourth token
def test_order_blind(layer):
    a, b = both_sides(layer)
    assert torch.allclose(a[:, 3], b[:, 3], atol=1e-5)

# %% variation
# because: compares sums
def test_order_blind(layer):
    a, b = both_sides(layer)
    assert torch.allclose(a.sum(dim=1), b.sum(dim=1), atol=1e-4)

# %% variation
# because: swaps two neighbours
def test_order_blind(layer):
    a, b = both_sides(layer, order=torch.tensor([0, 2, 1, 3, 4, 5, 6]))
    assert torch.allclose(a, b, atol=1e-5)

# %% variation
# because: returns its verdict
# named: accepts every layer
def test_order_blind(layer):
    a, b = both_sides(layer)
    return torch.allclose(a, b, atol=1e-5)

# %% wrong, blind first
# breaks: "in one token or number only, or by a few thousandths"
# because: the mean over all numbers hides an error that one number has
# named: the mean difference instead of the largest
def test_order_blind(layer):
    torch.manual_seed(0)
    x = torch.randn(4, 7, 8)
    order = torch.tensor([3, 0, 6, 2, 5, 1, 4])
    difference = layer(x[:, order]) - layer(x)[:, order]
    assert difference.abs().mean() < 1e-4, "depends on order"

# %% wrong, blind first
# breaks: "Allow for rounding in float32, which is about a millionth here"
# because: too strict, asks for equality to the last bit
def test_order_blind(layer):
    torch.manual_seed(1)
    x = torch.randn(3, 7, 8)
    for _ in range(10):
        order = torch.randperm(7)
        assert torch.equal(layer(x[:, order]), layer(x)[:, order])

# %% wrong, blind first
# breaks: "shuffled tokens give shuffled outputs"
# because: swaps the first two tokens only; what goes wrong at later places stays where it is
def test_order_blind(layer):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(4, 7, 8, generator=generator)
    swapped = x.clone()
    swapped[:, 0], swapped[:, 1] = x[:, 1], x[:, 0]
    expected = layer(x.clone()).clone()
    first = expected[:, 0].clone()
    expected[:, 0] = expected[:, 1]
    expected[:, 1] = first
    torch.testing.assert_close(layer(swapped), expected, rtol=1e-5, atol=1e-5)

# %% wrong, blind first
# breaks: "Some of these err in one text only"
# because: looks at the first text of the batch and at no other
# named: one text only
def test_order_blind(layer):
    torch.manual_seed(0)
    x = torch.randn(4, 9, 8)
    for seed in range(20):
        order = torch.randperm(9, generator=torch.Generator().manual_seed(seed))
        one = layer(x[:, order])[0]
        other = layer(x)[0][order]
        assert torch.allclose(one, other, atol=1e-5)

# %% right, blind first
# style: many random orders, two lengths, assert_close
def test_order_blind(layer):
    generator = torch.Generator().manual_seed(7)
    for length in (7, 12):
        x = torch.randn(5, length, 8, generator=generator)
        with torch.no_grad():
            plain = layer(x.clone()).clone()
        assert plain.shape == x.shape
        for _ in range(12):
            order = torch.randperm(length, generator=generator)
            with torch.no_grad():
                shuffled = layer(x[:, order].clone())
            torch.testing.assert_close(shuffled, plain[:, order], rtol=1e-5, atol=1e-5)

# %% right, blind first
# style: all rotations and the reversal of eight tokens, outputs put back, largest difference
def test_order_blind(layer):
    torch.manual_seed(11)
    length = 8
    x = torch.randn(4, length, 8)
    places = torch.arange(length)
    orders = [places.roll(n) for n in range(length)]
    orders += [places.flip(0), torch.tensor([5, 2, 7, 0, 3, 6, 1, 4])]
    plain = layer(x.clone()).detach().clone()
    for order in orders:
        out = layer(x[:, order].clone()).detach()
        put_back = out[:, order.argsort()]
        worst = (put_back - plain).abs().max().item()
        assert worst < 2e-5, f"order {order.tolist()}: differs by {worst}"

# %% wrong, blind second
# breaks: "shuffled tokens give shuffled outputs, and nothing else changes"
# because: compares the mean over tokens only; a layer that adds a row for each place has the same mean
def test_order_blind(layer):
    torch.manual_seed(0)
    for length in (5, 7, 12):
        x = torch.randn(3, length, 8)
        with torch.no_grad():
            plain = layer(x.clone())
            for _ in range(10):
                order = torch.randperm(length)
                shuffled = layer(x[:, order].clone())
                assert shuffled.shape == plain.shape
                difference = (shuffled.mean(dim=1) - plain.mean(dim=1)).abs().max()
                assert difference < 1e-5, "the layer depends on order"

# %% equal
# because: Another number of texts or of features shows every fault as well: two texts are enough.
# change: 2 to 3 in `x = torch.randn(2, 7, 4)`
# change: 4 to 5 in `x = torch.randn(2, 7, 4)`
# change: 4 to 3 in `x = torch.randn(2, 7, 4)`
