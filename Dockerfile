# docker build -t seesay .
# docker run --rm -v "$PWD:/work" seesay probe baseline:majority --task core-color
# EXTRAS says what is installed (docs/install.md); PIP_EXTRA_INDEX_URL may name an index with PyTorch's CPU build.
FROM python:3.12-slim-bookworm
ARG EXTRAS=models,api
ARG PIP_EXTRA_INDEX_URL
COPY pyproject.toml constraints.txt README.md LICENSE /source/
COPY src /source/src
RUN pip install --no-cache-dir --constraint /source/constraints.txt "/source[${EXTRAS}]" && rm -r /source
RUN useradd --create-home seesay && install -d -o seesay /work
USER seesay
WORKDIR /work
ENTRYPOINT ["seesay"]
CMD ["--help"]
