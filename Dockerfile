# Ridge in an image: the command, the software GPU, and nvcc. No GPU and no driver are needed to build or to run it.
#
#   docker build -t ridge .
#   docker run --rm -v "$PWD:/work" ridge ridge run my_kernel.cu
FROM debian:bookworm AS build
COPY . /src
# Gets packages from Debian and nvcc from PyPI, builds, and installs.
RUN cd /src && ./ridge install --prefix /opt/ridge \
 && cp -r "$(readlink -f .ridge/cuda)" /opt/cuda

FROM debian:bookworm-slim
# nvcc compiles the host's half of a program with g++.
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/cuda /usr/local/cuda
COPY --from=build /opt/ridge /usr/local
ENV PATH=/usr/local/cuda/bin:$PATH
WORKDIR /work
CMD ["ridge", "help"]
