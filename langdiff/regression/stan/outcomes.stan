// Outcomes of systems on items: successes out of trials.
//
// s_ij of t_ij trials given eta_ij: the likelihood, whose lines take the places marked below,
// eta_ij = theta_j - level - x_i' slope - lambda_j (sigma v_i + tau u_c(i)) - omega e_ij,
// sum_j theta_j = 0, sum_j log lambda_j = 0, v, u, e standard normal.
data {
  int<lower=2> I; // items
  int<lower=2> J; // systems
  int<lower=1> N; // observed cells
  int<lower=0> K; // covariates of items
  int<lower=0> C; // clusters of items, 0 without
  array[N] int<lower=1, upper=I> item;
  array[N] int<lower=1, upper=J> system;
  array[N] int<lower=0> successes;
  array[N] int<lower=1> trials;
  matrix[I, K] x;
  array[C > 0 ? I : 0] int<lower=1, upper=C> cluster;
  matrix[J, J - 1] centred; // orthonormal columns that sum to 0
  int<lower=0, upper=1> slopes, cell_noise;
  real<lower=0> level_scale, ability_scale, slope_scale, spread_scale, loading_scale; // of normal priors
}
parameters {
  real level;
  vector[J - 1] a;
  vector[K] slope;
  real<lower=0> spread;
  vector[I] v;
  vector[slopes ? J - 1 : 0] l;
  // LIKELIHOOD: parameters
  array[C > 0] real<lower=0> cluster_spread;
  vector[C] u;
  array[cell_noise] real<lower=0> cell_spread;
  vector[cell_noise ? N : 0] e;
}
transformed parameters {
  vector[J] ability = centred * a;
  vector[J] loading = slopes ? exp(centred * l) : rep_vector(1, J);
  vector[I] deviation = spread * v; // of items, from what covariates say
  if (C > 0) {
    deviation += cluster_spread[1] * u[cluster];
  }
}
model {
  vector[I] fixed = level + x * slope;
  vector[N] eta = ability[system] - fixed[item];
  eta -= slopes ? loading[system] .* deviation[item] : deviation[item];
  if (cell_noise) {
    eta -= cell_spread[1] * e;
  }
  // LIKELIHOOD: model
  level ~ normal(0, level_scale);
  a ~ normal(0, ability_scale);
  slope ~ normal(0, slope_scale);
  spread ~ normal(0, spread_scale);
  l ~ normal(0, loading_scale);
  cluster_spread ~ normal(0, spread_scale);
  cell_spread ~ normal(0, spread_scale);
  v ~ std_normal();
  u ~ std_normal();
  e ~ std_normal();
}
