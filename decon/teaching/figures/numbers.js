// The little numerical mathematics that the live figures need: random numbers, least squares,
// eigenvalues, and the dual problem of a support vector machine.

// Uniform numbers in [0, 1) and standard normal ones, the same for the same seed (mulberry32)
export function generator(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}

export const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
export const norm = (a) => Math.hypot(...a);
export const add = (a, b, t = 1) => a.map((v, i) => v + t * b[i]);
export const unit = (a) => a.map((v) => v / norm(a));
export const cross = ([a, b, c], [u, v, w]) => [b * w - c * v, c * u - a * w, a * v - b * u];

// Solve A x = b by elimination with row pivots
export function solve(A, b) {
  const n = b.length, M = A.map((row, i) => [...row, b[i]]);
  for (let k = 0; k < n; k += 1) {
    let pivot = k;
    for (let i = k + 1; i < n; i += 1) if (Math.abs(M[i][k]) > Math.abs(M[pivot][k])) pivot = i;
    [M[k], M[pivot]] = [M[pivot], M[k]];
    for (let i = k + 1; i < n; i += 1) {
      const factor = M[i][k] / M[k][k];
      for (let j = k; j <= n; j += 1) M[i][j] -= factor * M[k][j];
    }
  }
  const x = Array(n).fill(0);
  for (let k = n - 1; k >= 0; k -= 1) {
    let rest = M[k][n];
    for (let j = k + 1; j < n; j += 1) rest -= M[k][j] * x[j];
    x[k] = rest / M[k][k];
  }
  return x;
}

// Eigenvalues, ascending, and eigenvectors (as rows) of a symmetric matrix: Jacobi's rotations
export function eigen(A) {
  const n = A.length, M = A.map((row) => [...row]);
  const V = A.map((_, i) => A.map((__, j) => Number(i === j)));
  for (let sweep = 0; sweep < 60; sweep += 1) {
    let off = 0, all = 0;
    for (let p = 0; p < n; p += 1) {
      for (let q = 0; q < n; q += 1) {
        all += M[p][q] ** 2;
        if (p !== q) off += M[p][q] ** 2;
      }
    }
    if (off <= 1e-30 * all) break;
    for (let p = 0; p < n; p += 1) {
      for (let q = p + 1; q < n; q += 1) {
        if (M[p][q] === 0) continue;
        const theta = (M[q][q] - M[p][p]) / (2 * M[p][q]);
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const c = 1 / Math.hypot(t, 1), s = t * c;
        for (let k = 0; k < n; k += 1) {
          [M[k][p], M[k][q]] = [c * M[k][p] - s * M[k][q], s * M[k][p] + c * M[k][q]];
        }
        for (let k = 0; k < n; k += 1) {
          [M[p][k], M[q][k]] = [c * M[p][k] - s * M[q][k], s * M[p][k] + c * M[q][k]];
          [V[p][k], V[q][k]] = [c * V[p][k] - s * V[q][k], s * V[p][k] + c * V[q][k]];
        }
      }
    }
  }
  const order = M.map((_, i) => i).sort((i, j) => M[i][i] - M[j][j]);
  return { values: order.map((i) => M[i][i]), vectors: order.map((i) => V[i]) };
}

// The vector v of norm 1 with the least |A v|, and that value: rows of A are scaled to norm 1
export function nullVector(A) {
  const n = A[0].length, M = Array.from({ length: n }, () => Array(n).fill(0));
  for (const row of A) {
    const size = norm(row) || 1;
    for (let i = 0; i < n; i += 1) {
      for (let j = 0; j < n; j += 1) M[i][j] += (row[i] * row[j]) / size ** 2;
    }
  }
  const { values, vectors } = eigen(M);
  return { vector: vectors[0], residual: Math.sqrt(Math.max(values[0], 0) / A.length) };
}

// Singular values, descending, and right singular vectors (as rows) of a matrix: Hestenes's rotations
// of its columns. Unlike eigenvalues of A'A, the smallest is right to the rounding of the largest
export function singular(A) {
  const n = A[0].length, columns = A[0].map((_, j) => A.map((row) => row[j]));
  const V = A[0].map((_, i) => A[0].map((__, j) => Number(i === j)));
  for (let sweep = 0, turned = true; turned && sweep < 40; sweep += 1) {
    turned = false;
    for (let p = 0; p < n; p += 1) {
      for (let q = p + 1; q < n; q += 1) {
        const [a, b, c] = [[p, p], [q, q], [p, q]].map(([i, j]) => dot(columns[i], columns[j]));
        if (Math.abs(c) <= 1e-15 * Math.sqrt(a * b)) continue;
        const theta = (b - a) / (2 * c);
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const cosine = 1 / Math.hypot(t, 1), sine = t * cosine;
        for (const rows of [columns, V]) {
          const [u, v] = [rows[p], rows[q]];
          rows[p] = u.map((x, k) => cosine * x - sine * v[k]);
          rows[q] = u.map((x, k) => sine * x + cosine * v[k]);
        }
        turned = true;
      }
    }
  }
  const sizes = columns.map(norm), order = sizes.map((_, i) => i).sort((i, j) => sizes[j] - sizes[i]);
  return { values: order.map((i) => sizes[i]), vectors: order.map((i) => V[i]) };
}

// Multipliers of a soft-margin SVM: 0 <= a <= C, sum a y = 0, by pairs that violate the KKT
// conditions most (SMO); the threshold is the mean over free multipliers, or the middle of what
// the others allow
export function svm(K, y, C, tolerance = 1e-9) {
  const n = y.length, a = Array(n).fill(0), gradient = Array(n).fill(-1);
  let up, low;
  for (let step = 0; step < 100000; step += 1) {
    let i = -1, j = -1;
    [up, low] = [-Infinity, Infinity];
    for (let t = 0; t < n; t += 1) {
      const value = -y[t] * gradient[t];
      if ((y[t] > 0 ? a[t] < C : a[t] > 0) && value > up) [up, i] = [value, t];
      if ((y[t] > 0 ? a[t] > 0 : a[t] < C) && value < low) [low, j] = [value, t];
    }
    if (i < 0 || j < 0 || up - low <= tolerance) break;
    // Move a_i by y_i s and a_j by -y_j s, as far as the best s or the box allows
    const curvature = Math.max(K[i][i] + K[j][j] - 2 * K[i][j], 1e-12);
    let s = (up - low) / curvature;
    s = Math.min(s, y[i] > 0 ? C - a[i] : a[i], y[j] > 0 ? a[j] : C - a[j]);
    a[i] += y[i] * s;
    a[j] -= y[j] * s;
    for (const t of [i, j]) {  // what stops at a bound lies on it
      if (a[t] < 1e-12 * C) a[t] = 0;
      if (a[t] > C * (1 - 1e-12)) a[t] = C;
    }
    for (let t = 0; t < n; t += 1) gradient[t] += y[t] * s * (K[t][i] - K[t][j]);
  }
  const free = y.map((_, t) => t).filter((t) => a[t] > 1e-9 * C && a[t] < C * (1 - 1e-9));
  const b = free.length ? free.reduce((sum, t) => sum - y[t] * gradient[t], 0) / free.length
    : (up + low) / 2;
  return { a, b };
}
