# langdiff without CUDA, for any user. The pinned versions are those that the tests run with.
# Build with `--build-arg TORCH_INDEX=…`, the address of PyTorch's builds for CPUs, or the image has CUDA: several gigabytes more.
FROM python:3.12-slim
ARG TORCH_INDEX=""
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY langdiff langdiff
RUN if [ -n "$TORCH_INDEX" ]; then pip install --no-cache-dir --index-url "$TORCH_INDEX" "$(grep '^torch==' constraints.txt)"; fi \
    && pip install --no-cache-dir -c constraints.txt ".[lm]" \
    && useradd --create-home langdiff
USER langdiff
WORKDIR /home/langdiff
RUN langdiff doctor
ENTRYPOINT ["langdiff"]
