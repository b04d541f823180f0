# Answers to learned-fit-shift: tests/grading/answers.py says what the parts are.

# %% right
# style: rows of the root of the ridge below the pairs
def fit_shift(table, k, fitted, ridge):
    n, d = table.shape
    x = torch.cat([table[: fitted - k], ridge**0.5 * torch.eye(d, dtype=torch.float64)])
    y = torch.cat([table[k:fitted], torch.zeros(d, d, dtype=torch.float64)])
    m = torch.linalg.lstsq(x, y).solution
    goal = table[fitted + k : n]
    residual = goal - table[fitted : n - k] @ m
    return m, (residual**2).sum() / ((goal - goal.mean(0, keepdim=True)) ** 2).sum()

# %% right
# style: by numpy, pair by pair
import numpy as np

def fit_shift(table, k, fitted, ridge):
    rows = table.numpy()
    width = rows.shape[1]
    squares, mixed = ridge * np.identity(width), np.zeros((width, width))
    for p in range(fitted - k):
        squares += np.outer(rows[p], rows[p])
        mixed += np.outer(rows[p], rows[p + k])
    m = np.linalg.inv(squares) @ mixed
    goals = [rows[p + k] for p in range(fitted, len(rows) - k)]
    mean = sum(goals) / len(goals)
    errors = variance = 0.0
    for p in range(fitted, len(rows) - k):
        errors += np.sum((rows[p + k] - rows[p] @ m) ** 2)
        variance += np.sum((rows[p + k] - mean) ** 2)
    return torch.from_numpy(m), float(errors / variance)

# %% right
# style: by singular values
def fit_shift(table, k, fitted, ridge):
    u, s, vh = torch.linalg.svd(table[: fitted - k], full_matrices=False)
    m = vh.T @ torch.diag(s / (s * s + ridge)) @ u.T @ table[k:fitted]
    held = table[fitted:]
    wanted, given = held[k:], held[:-k] @ m
    total = wanted.var(dim=0, correction=0).sum()
    return m, ((wanted - given).pow(2).sum(dim=1).mean() / total).item()

# %% right
# style: as many equations as pairs
def fit_shift(table, k, fitted, ridge):
    x, y = table[: fitted - k], table[k:fitted]
    pairs = x @ x.T + ridge * torch.eye(len(x), dtype=table.dtype)
    m = x.T @ torch.cholesky_solve(y, torch.linalg.cholesky(pairs))
    x, y = table[fitted:-k], table[fitted + k :]
    return m, torch.dist(x @ m, y).square() / torch.dist(y.mean(0).expand_as(y), y).square()

# %% wrong
# because: the share comes first
def fit_shift(table, k, fitted, ridge):
    x, y = table[: fitted - k], table[k:fitted]
    m = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1], dtype=x.dtype), x.T @ y)
    x, y = table[fitted:-k], table[fitted + k :]
    return ((y - x @ m).square().sum() / (y - y.mean(0)).square().sum()).item(), m

# %% wrong
# because: the last pair to fit is left out
def fit_shift(table, k, fitted, ridge):
    x = table[: fitted - k - 1]
    y = table[k : fitted - 1]
    m = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1], dtype=x.dtype), x.T @ y)
    x, y = table[fitted:-k], table[fitted + k :]
    return m, ((y - x @ m).square().sum() / (y - y.mean(0)).square().sum()).item()

# %% wrong
# because: fitted by least squares without the ridge, where rows are fewer than columns
# named: no ridge
def fit_shift(table, k, fitted, ridge):
    before, after = table[: fitted - k], table[k:fitted]
    matrix = torch.linalg.lstsq(before, after, driver="gelsd").solution
    test_before, test_after = table[fitted:-k], table[fitted + k :]
    error = ((test_before @ matrix - test_after) ** 2).sum()
    return matrix, (error / ((test_after - test_after.mean(dim=0)) ** 2).sum()).item()

# %% wrong
# because: fails where there are more columns than pairs
def fit_shift(table, k, fitted, ridge):
    before, after = table[: fitted - k], table[k:fitted]
    matrix = torch.linalg.solve(before.T @ before, before.T @ after)
    test_before, test_after = table[fitted:-k], table[fitted + k :]
    error = ((test_before @ matrix - test_after) ** 2).sum()
    return matrix, (error / ((test_after - test_after.mean(dim=0)) ** 2).sum()).item()

# %% wrong
# because: measured on the rows that were fitted, and one mean for all columns
def fit_shift(table, k, fitted, ridge):
    x, y = table[: fitted - k], table[k:fitted]
    m = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1], dtype=x.dtype), x.T @ y)
    return m, (((y - x @ m) ** 2).mean() / y.var()).item()

# %% wrong
# because: the table is centred in place
def fit_shift(table, k, fitted, ridge):
    table -= table[:fitted].mean(dim=0)
    x, y = table[: fitted - k], table[k:fitted]
    m = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1], dtype=x.dtype), x.T @ y)
    x, y = table[fitted:-k], table[fitted + k :]
    return m, ((y - x @ m).square().sum() / (y - y.mean(0)).square().sum()).item()

# %% wrong
# because: the matrix is multiplied from the left, and returned so
# named: the matrix transposed
def fit_shift(table, k, fitted, ridge):
    x, y = table[: fitted - k].T, table[k:fitted].T
    m = y @ x.T @ torch.linalg.inv(x @ x.T + ridge * torch.eye(len(x), dtype=x.dtype))
    x, y = table[fitted:-k].T, table[fitted + k :].T
    centred = y - y.mean(dim=1, keepdim=True)
    return m, ((y - m @ x).square().sum() / centred.square().sum()).item()

# %% wrong
# because: every other row is held out
def fit_shift(table, k, fitted, ridge):
    x, y = table[:-k], table[k:]
    eye = torch.eye(x.shape[1], dtype=x.dtype)
    m = torch.linalg.solve(x[::2].T @ x[::2] + ridge * eye, x[::2].T @ y[::2])
    x, y = x[1::2], y[1::2]
    return m, ((y - x @ m).square().sum() / (y - y.mean(0)).square().sum()).item()

# %% wrong
# because: the rows held out begin one later
def fit_shift(table, k, fitted, ridge):
    x, y = table[: fitted - k], table[k:fitted]
    m = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1], dtype=x.dtype), x.T @ y)
    x, y = table[fitted + 1 : -k], table[fitted + k + 1 :]
    return m, ((y - x @ m).square().sum() / (y - y.mean(0)).square().sum()).item()

# %% wrong
# because: the ridge pulls the matrix to the identity
def fit_shift(table, k, fitted, ridge):
    x, y = table[: fitted - k], table[k:fitted]
    eye = torch.eye(x.shape[1], dtype=x.dtype)
    m = torch.linalg.solve(x.T @ x + ridge * eye, x.T @ y + ridge * eye)
    x, y = table[fitted:-k], table[fitted + k :]
    return m, ((y - x @ m).square().sum() / (y - y.mean(0)).square().sum()).item()

# %% equal
# because: Every ridge that is asked about is exact in float32.
# change: dtype= dropped in `penalty = ridge * torch.eye(table.shape[1], dtype=table.dtype)`
