# %% wrong alibi-half-precision
# breaks: "In half precision no weight may be off by more than four times the `eps` of this dtype"
# because: the distances are exact, but the bias is rounded to the dtype of the scores, and added there
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = q_positions[:, None] - k_positions[None, :]
    bias = -(slopes[:, None, None] * distance.float()).to(scores.dtype)
    return (scores + bias).softmax(dim=-1)


# %% wrong alibi-half-precision
# breaks: "some see no near key: the nearest one may stand up to 20 000 tokens back"
# because: exact sums, but the exponentials are taken without subtracting the largest, so far keys give 0 / 0
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions[None, :]).double()
    total = scores.double() - slopes.double()[:, None, None] * distance
    total = total.exp()
    return (total / total.sum(-1, keepdim=True)).to(scores.dtype)


# %% right alibi-half-precision
# because: head by head in a loop, float64, softmax by hand with the largest subtracted
def alibi_weights(scores, slopes, q_positions, k_positions):
    back = q_positions.double().unsqueeze(1) - k_positions.double().unsqueeze(0)
    heads = []
    for h, m in enumerate(slopes.tolist()):
        s = scores[:, h].double() - m * back
        s = (s - s.amax(-1, keepdim=True)).exp()
        heads.append(s / s.sum(-1, keepdim=True))
    return torch.stack(heads, dim=1).type_as(scores)


# %% right alibi-half-precision
# because: keeps the short cut m j, but in float64, where it is exact enough
def alibi_weights(scores, slopes, q_positions, k_positions):
    ramp = torch.outer(slopes.double(), k_positions.double())[None, :, None, :]
    return (scores.double() + ramp).softmax(-1).to(scores.dtype)


# %% wrong alibi-test
# breaks: "The right versions are made for 1 to 128 heads"
# because: tries 8 heads only, so the rule for other numbers is never seen
def test_alibi(bias):
    q, k = torch.tensor([0, 3, 100000, 17]), torch.tensor([5, 0, 99999])
    slopes = 2.0 ** -torch.arange(1, 9).double()
    expected = -slopes[:, None, None] * (q[:, None] - k).abs()
    got = bias(q, k, 8)
    assert got.shape == (8, 4, 3)
    assert torch.allclose(got.double(), expected, rtol=1e-5)


# %% wrong alibi-test
# breaks: "the values $-m_h\,|i - j|$" with the authors' slopes of lesson 06
# because: expects the formula 2^(-8h/H) for every number of heads, so right versions are refused at 12 heads
def test_alibi(bias):
    p = torch.arange(50)
    for heads in (1, 2, 4, 8, 12, 16, 20, 128):
        m = 2.0 ** (-8 * torch.arange(1, heads + 1).double() / heads)
        expected = -m[:, None, None] * (p[:, None] - p[None]).abs()
        got = bias(p, p, heads)
        assert got.shape == expected.shape
        assert torch.allclose(got.double(), expected, rtol=1e-5, atol=1e-6)


# %% wrong alibi-test
# breaks: "without a mask" and "whole positions up to 100 000"
# because: compares the keys before the query only (tril), at positions 0 to 31, with a tolerance of 0.01
def test_alibi(bias):
    def slopes(n):
        if math.log2(n) % 1 == 0:
            return [2 ** (-8 * (h + 1) / n) for h in range(n)]
        low = 2 ** int(math.log2(n))
        return slopes(low) + slopes(2 * low)[0::2][: n - low]

    p = torch.arange(32)
    for n in range(1, 129):
        m = torch.tensor(slopes(n)).double()[:, None, None]
        expected = -m * (p[:, None] - p).abs()
        assert torch.allclose(bias(p, p, n).double().tril(), expected.tril(), atol=0.01)


# %% right alibi-test
# because: slopes as fractions of two by plain powers, all numbers of heads from 1 to 128, bounds by hand
def test_alibi(bias):
    def slopes(n):
        low = 1
        while 2 * low <= n:
            low *= 2
        first = [2.0 ** (-8.0 * h / low) for h in range(1, low + 1)]
        return first + [2.0 ** (-4.0 * h / low) for h in range(1, 2 * low + 1, 2)][: n - low]

    g = torch.Generator().manual_seed(5)
    texts = [(torch.arange(9), torch.arange(9)), (torch.tensor([7]), torch.arange(8)),
             (torch.tensor([100000, 0, 5, 5, 99999]), torch.tensor([3, 100000, 0, 70000, 3, 65537])),
             (torch.randint(0, 100001, (12,), generator=g), torch.randint(0, 100001, (7,), generator=g)),
             (torch.arange(90000, 90040), torch.arange(90010, 90060)),
             (torch.arange(20, 0, -1), torch.arange(0, 60, 3)), (torch.arange(300), torch.arange(300))]
    for heads in range(1, 129):
        m = torch.tensor(slopes(heads), dtype=torch.float64).reshape(-1, 1, 1)
        for number, (q, k) in enumerate(texts):
            if number == 6 and heads not in (1, 3, 8, 12):
                continue
            want = -m * (q.reshape(-1, 1) - k.reshape(1, -1)).abs().double()
            got = bias(q.clone(), k.clone(), heads)
            assert got.shape == (heads, len(q), len(k))
            assert got.dtype in (torch.float32, torch.float64)
            assert ((got.double() - want).abs() <= 5e-6 * want.abs() + 1e-12).all()
