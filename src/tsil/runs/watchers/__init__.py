"""Those who follow a run: a screen, TensorBoard, Weights & Biases."""
