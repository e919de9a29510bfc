// Model 1 of Mielke et al. (2019, section 3) as it is written: the reference for model_1.stan, and slow.
//
// y_ij = n_i exp(d_j) exp(epsilon), epsilon ~ normal(0, sigma), sigma^2 = ln(1 + kappa); the factors exp(d_j)
// average 1.
// Flat in every ln n_i, in d up to a constant, and in ln kappa, unless a prior's precision is positive.
data {
  int<lower=2> I; // intents
  int<lower=2> J; // editions
  int<lower=1> N; // observed cells, edition by edition
  vector[N] z; // log surprisals
  array[N] int<lower=1, upper=I> row; // intent of each
  array[J + 1] int<lower=1> first; // cells of edition j: first[j] to first[j + 1] - 1
  real log_size_mean; // priors: normal, precision 0 is flat
  real<lower=0> log_size_precision, difficulty_precision;
  real log_dispersion_mean;
  real<lower=0> log_dispersion_precision;
}
parameters {
  vector<lower=0>[I] n;
  simplex[J] share; // of all bits, spent in edition j
  real<lower=0> kappa;
}
transformed parameters {
  vector[J] difficulty = log(J * share);
}
model {
  vector[I] m = log(n);
  real sigma = sqrt(log1p(kappa));
  for (j in 1 : J) {
    array[first[j + 1] - first[j]] int i = row[first[j] : (first[j + 1] - 1)];
    z[first[j] : (first[j + 1] - 1)] ~ normal(m[i] + difficulty[j], sigma);
  }
  target += -sum(log(n)) - sum(log(share)) - log(kappa); // flat in the logarithms
  target += -0.5 * log_size_precision * dot_self(log(n) - log_size_mean);
  target += -0.5 * difficulty_precision * dot_self(difficulty - mean(difficulty));
  target += -0.5 * log_dispersion_precision * square(log(kappa) - log_dispersion_mean);
}
generated quantities {
  vector[I] intent_size = n;
  real dispersion = kappa;
}
