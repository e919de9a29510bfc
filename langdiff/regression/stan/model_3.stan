// Model 3 of Mielke et al. (2019, section 3), whitened by the maximum-likelihood fit of model 2.
//
// y_ij = n_i exp(d_j) exp(epsilon + nu_ij), nu_ij ~ Laplace(0, b), epsilon ~ normal((sigma^2 - v_ij) / 2, sqrt(v_ij)),
// v_ij = ln(1 + kappa / (n_i exp(nu_ij))), sigma^2 = ln(1 + kappa); the factors exp(d_j) average 1.
// Every nu_ij is sampled, in units of about its posterior standard deviation.
// Flat in every ln n_i, in d up to a constant, and in ln kappa, unless a prior's precision is positive.
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
  real<lower=0> laplace_scale; // b, given
  vector<lower=0>[I] nu_scale; // about the posterior standard deviation of the row's nu
  real log_size_mean; // priors: normal, precision 0 is flat
  real<lower=0> log_size_precision, difficulty_precision;
  real log_dispersion_mean;
  real<lower=0> log_dispersion_precision;
}
parameters {
  vector[I] a;
  vector[J - 1] e;
  real k;
  vector[N] t;
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
  vector[N] nu = nu_scale[row] .* t;
  nu ~ double_exponential(0, laplace_scale); // a constant Jacobian
  for (j in 1 : J) {
    int cells = first[j + 1] - first[j];
    array[cells] int i = row[first[j] : (first[j + 1] - 1)];
    vector[cells] m_nu = m[i] + nu[first[j] : (first[j + 1] - 1)];
    vector[cells] v = log1p_exp(log_kappa - m_nu);
    z[first[j] : (first[j + 1] - 1)] ~ normal(m_nu + difficulty[j] + 0.5 * (log1p_exp(log_kappa) - v), sqrt(v));
  }
  target += -0.5 * log_size_precision * dot_self(m - log_size_mean);
  target += -0.5 * difficulty_precision * dot_self(difficulty - mean(difficulty));
  target += -0.5 * log_dispersion_precision * square(log_kappa - log_dispersion_mean);
}
generated quantities {
  vector[I] intent_size = exp(m);
  real dispersion = exp(log_kappa);
}
