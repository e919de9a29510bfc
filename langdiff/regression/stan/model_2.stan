// Model 2 of Mielke et al. (2019, section 3), whitened by its maximum-likelihood fit.
//
// ln y_ij ~ normal(m_i + d_j + (sigma^2 - v_i) / 2, sqrt(v_i)), v_i = ln(1 + kappa / n_i),
// sigma^2 = ln(1 + kappa), sum_j exp(d_j) = J, m_i = ln n_i.
// Flat in every m_i, in d up to a constant, and in ln kappa, unless a prior's precision is positive; with random
// intents every m_i is normal, and its mean and standard deviation have flat priors.
//
// The parameters a, e and k have posterior scale about 1 and little correlation; they are d - mean(d), ln kappa
// and, given these, ln(kappa / n_i), up to a linear map of constant determinant. A row's sum of squared residuals
// follows from sums made once, so that a gradient costs one matrix-vector product (three with a mask); the
// rest is written with few vectors, each of which costs autodiff a node an intent.
data {
  int<lower=2> I; // intents
  int<lower=2> J; // editions
  vector[J] d_hat; // difficulties of the fit, sum 0
  matrix[J, J - 1] d_root; // root of their covariance; columns sum to 0
  vector[I] r_hat; // ln(kappa / n) of the fit, under sum d = 0
  vector<lower=0>[I] r_scale; // their standard deviations given all else
  vector[I] r_on_k; // how they move with ln kappa, and with the sum over the row of d,
  vector[I] r_on_row; // if their rows' locations stay
  real k_hat; // log dispersion of the fit
  real<lower=0> k_scale; // and about its posterior standard deviation
  vector[I] location_hat; // mean of ln y less d, in the fit
  vector<lower=1>[I] cells; // observed in each row
  int<lower=0, upper=1> incomplete;
  matrix[incomplete ? I : 0, J - 1] mask_root; // mask times d_root
  matrix[incomplete ? I : 0, J] mask; // 1 where observed
  vector[I] residual_sum, residual_square; // of the fit, row by row
  matrix[I, J - 1] residual_root; // residuals times d_root
  int<lower=0, upper=1> random_intents; // sizes are normal, their mean and standard deviation unknown
  real size_mean_hat, log_spread_hat; // about where these are,
  real<lower=0> size_mean_scale, log_spread_scale; // and about their posterior standard deviations
  real log_size_mean; // priors: normal, precision 0 is flat
  real<lower=0> log_size_precision, difficulty_precision;
  real log_dispersion_mean;
  real<lower=0> log_dispersion_precision;
}
transformed data {
  matrix[I, 2] r_on = append_col(r_on_k, rep_vector(-1, I)); // of ln kappa and the level
  vector[I] root_cells = inv_sqrt(cells);
  vector[I] fewer_cells = cells - 1;
  vector[I] target_location = location_hat + residual_sum ./ cells;
  vector[I] within = residual_square - square(residual_sum) ./ cells;
}
parameters {
  vector[I] a;
  vector[J - 1] e;
  real k;
  vector[random_intents ? 2 : 0] s; // mean and log standard deviation of log sizes
}
model {
  real log_kappa = k_hat + k_scale * k;
  vector[J] u = d_root * e;
  real level = log_sum_exp(d_hat + u) - log(J);
  vector[I] r = fma(r_scale, a, r_hat + r_on * [k_scale * k, level]'); // ln(kappa / n)
  real top = log_kappa + 0.5 * log1p_exp(log_kappa) - level; // location + r + v / 2
  if (incomplete) {
    vector[I] row_u = mask_root * e;
    r += r_on_row .* row_u;
    vector[I] v = log1p_exp(r);
    target += normal_lupdf(fma(0.5, v, r) + target_location - row_u ./ cells | top, root_cells .* sqrt(v));
    target += -0.5 * dot_product(fewer_cells, log(v));
    target += -0.5 * dot_product(inv(v), within - 2 * (residual_root * e) + mask * square(u)
                                         + row_u .* (2 * residual_sum - row_u) ./ cells);
  } else {
    vector[I] v = log1p_exp(r);
    vector[I] precision = inv(v);
    target += normal_lupdf(fma(0.5, v, r) + target_location | top, root_cells .* sqrt(v));
    target += -0.5 * dot_product(fewer_cells, log(v));
    target += -0.5 * (dot_product(within, precision) - 2 * dot_product(precision, residual_root * e)
                      + dot_self(u) * sum(precision));
  }
  target += -0.5 * log_dispersion_precision * square(log_kappa - log_dispersion_mean);
  target += -0.5 * difficulty_precision * dot_self(d_hat + u);
  if (log_size_precision > 0) {
    target += -0.5 * log_size_precision * dot_self(log_kappa - r - log_size_mean);
  }
  if (random_intents) { // flat in the mean and the standard deviation
    real log_spread = log_spread_hat + log_spread_scale * s[2];
    target += log_spread + normal_lupdf(log_kappa - r | size_mean_hat + size_mean_scale * s[1], exp(log_spread));
  }
}
generated quantities {
  vector[random_intents ? 2 : 0] size_distribution; // mean and standard deviation of log sizes
  vector[J] difficulty;
  vector[I] intent_size;
  real dispersion = exp(k_hat + k_scale * k);
  if (random_intents) {
    size_distribution = [size_mean_hat + size_mean_scale * s[1], exp(log_spread_hat + log_spread_scale * s[2])]';
  }
  {
    vector[J] u = d_root * e;
    real level = log_sum_exp(d_hat + u) - log(J);
    vector[I] row_u = incomplete ? mask_root * e : rep_vector(0, I);
    vector[I] r = r_hat + r_scale .* a + r_on * [k_scale * k, level]' + r_on_row .* row_u;
    difficulty = d_hat + u - level;
    intent_size = dispersion * exp(-r);
  }
}
