"""LSTM language models: the network, its training and its scores."""
