// Model 2L of Mielke et al. (2019, section 3), whitened by the maximum-likelihood fit of model 2.
//
// As model 2, but epsilon is Laplace of the same mean (sigma^2 - v_i) / 2 and variance v_i = ln(1 + kappa / n_i).
// There are no sufficient statistics: every cell is visited.
// Flat in every ln n_i, in d up to a constant, and in ln kappa, unless a prior's precision is positive; with random
// intents every ln n_i is normal, and its mean and standard deviation have flat priors.
data {
  int<lower=2> I; // intents
  int<lower=2> J; // editions
  int<lower=1> N; // observed cells, edition by edition
  vector[N] z; // log surprisals
  array[N] int<lower=1, upper=I> row; // intent of each
  array[J + 1] int<lower=1> first; // cells of edition j: first[j] to first[j + 1] - 1
  vector[J] d_hat; // difficulties of the fit, sum 0
  matrix[J, J - 1] d_root; // root of their covariance; columns sum to 0
  vector[I] r_hat; // ln(kappa / n) of the fit, under sum d = 0
  vector<lower=0>[I] r_scale; // their standard deviations given all else
  vector[I] r_on_k; // how they move with ln kappa, and with the sum over the row of d,
  vector[I] r_on_row; // if their rows' locations stay
  matrix[I, J - 1] mask_root; // mask (1 where observed) times d_root
  real k_hat; // log dispersion of the fit
  real<lower=0> k_scale; // and about its posterior standard deviation
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
transformed parameters {
  real log_kappa = k_hat + k_scale * k;
  vector[J] difficulty;
  vector[I] m; // ln n
  {
    vector[J] d = d_hat + d_root * e;
    real level = log_sum_exp(d) - log(J);
    difficulty = d - level;
    m = log_kappa - (r_hat - level + r_scale .* a + r_on_k * (k_scale * k) + r_on_row .* (mask_root * e));
  }
}
model {
  vector[I] v = log1p_exp(log_kappa - m);
  vector[I] location = m + 0.5 * (log1p_exp(log_kappa) - v);
  vector[I] scale = sqrt(v / 2);
  for (j in 1 : J) {
    array[first[j + 1] - first[j]] int i = row[first[j] : (first[j + 1] - 1)];
    z[first[j] : (first[j + 1] - 1)] ~ double_exponential(location[i] + difficulty[j], scale[i]);
  }
  target += -0.5 * log_size_precision * dot_self(m - log_size_mean);
  target += -0.5 * difficulty_precision * dot_self(difficulty - mean(difficulty));
  target += -0.5 * log_dispersion_precision * square(log_kappa - log_dispersion_mean);
  if (random_intents) { // flat in the mean and the standard deviation
    real log_spread = log_spread_hat + log_spread_scale * s[2];
    target += log_spread + normal_lupdf(m | size_mean_hat + size_mean_scale * s[1], exp(log_spread));
  }
}
generated quantities {
  vector[random_intents ? 2 : 0] size_distribution; // mean and standard deviation of log sizes
  vector[I] intent_size = exp(m);
  real dispersion = exp(log_kappa);
  if (random_intents) {
    size_distribution = [size_mean_hat + size_mean_scale * s[1], exp(log_spread_hat + log_spread_scale * s[2])]';
  }
}
