// Model 1 of Mielke et al. (2019, section 3), whitened by its exact least-squares fit.
//
// ln y_ij ~ normal(m_i + d_j, sigma), sigma^2 = ln(1 + kappa), sum_j exp(d_j) = J, m_i = ln n_i.
// Flat in every m_i, in d up to a constant, and in ln kappa, unless a prior's precision is positive; with random
// intents every m_i is normal, and its mean and standard deviation have flat priors.
//
// The table enters only through the residual sum of squares: around the fit the sum of squares is
// sum_of_squares + sigma^2 (|a|^2 + |e|^2), for d - mean(d) = d_hat + sigma d_root e and, row by row,
// m + mean(d) = m_hat + sigma (a / sqrt(cells) - mean over the row's editions of d_root e).
data {
  int<lower=2> I; // intents
  int<lower=2> J; // editions
  vector[J] d_hat; // difficulties of the fit, sum 0
  matrix[J, J - 1] d_root; // root of their covariance, for sigma = 1; columns sum to 0
  vector[I] m_hat; // log intent sizes of the fit, under sum d = 0
  real k_hat; // log dispersion of the fit
  real<lower=0> k_scale; // and about its posterior standard deviation
  vector<lower=1>[I] cells; // observed in each row
  real<lower=0> sum_of_squares; // of the fit's residuals
  real<lower=1> degrees_of_freedom;
  int<lower=0, upper=1> incomplete;
  matrix[incomplete ? I : 0, J - 1] mask_root; // mask times d_root
  int<lower=0, upper=1> random_intents; // sizes are normal, their mean and standard deviation unknown
  real size_mean_hat, log_spread_hat; // about where these are,
  real<lower=0> size_mean_scale, log_spread_scale; // and about their posterior standard deviations
  real log_size_mean; // priors: normal, precision 0 is flat
  real<lower=0> log_size_precision, difficulty_precision;
  real log_dispersion_mean;
  real<lower=0> log_dispersion_precision;
}
parameters {
  vector[I] a;
  vector[J - 1] e;
  real k;
  vector[random_intents ? 2 : 0] s; // mean and log standard deviation of log sizes
}
model {
  real log_kappa = k_hat + k_scale * k;
  real v = log1p_exp(log_kappa);
  target += -0.5 * (degrees_of_freedom * log(v) + sum_of_squares / v + dot_self(a) + dot_self(e));
  target += -0.5 * log_dispersion_precision * square(log_kappa - log_dispersion_mean);
  if (log_size_precision > 0 || difficulty_precision > 0 || random_intents) {
    vector[J] d = d_hat + sqrt(v) * (d_root * e);
    vector[I] m = m_hat + log_sum_exp(d) - log(J) + sqrt(v / cells) .* a;
    if (incomplete) {
      m -= sqrt(v) * (mask_root * e) ./ cells;
    }
    target += -0.5 * (log_size_precision * dot_self(m - log_size_mean) + difficulty_precision * dot_self(d));
    if (random_intents) { // flat in the mean and the standard deviation
      real log_spread = log_spread_hat + log_spread_scale * s[2];
      target += log_spread + normal_lupdf(m | size_mean_hat + size_mean_scale * s[1], exp(log_spread));
    }
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
    real v = log1p(dispersion);
    vector[J] u = sqrt(v) * (d_root * e);
    vector[I] row_u = incomplete ? sqrt(v) * (mask_root * e) : rep_vector(0, I);
    vector[I] shift = sqrt(v / cells) .* a - row_u ./ cells;
    real level = log_sum_exp(d_hat + u) - log(J);
    difficulty = d_hat + u - level;
    intent_size = exp(m_hat + level + shift);
  }
}
