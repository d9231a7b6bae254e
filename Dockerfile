# One image for all services; the argument picks one: `docker run joiner services.solver`.
FROM python:3.12-slim AS build
WORKDIR /src
RUN apt-get update -qq && apt-get install -qq --yes --no-install-recommends g++ && python -m venv /opt/joiner
COPY requirements.lock ./
RUN /opt/joiner/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY . .
RUN /opt/joiner/bin/pip install --no-cache-dir --no-deps --no-build-isolation ./kernel .

FROM python:3.12-slim
ENV PATH=/opt/joiner/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
# /run/joiner: where the simulator of docker-compose.yml leaves its kubeconfig for the others
RUN groupadd --gid 65532 joiner \
 && useradd --uid 65532 --gid 65532 --no-create-home --shell /usr/sbin/nologin joiner \
 && install -d -o 65532 -g 65532 /run/joiner
COPY --from=build /opt/joiner /opt/joiner
COPY deploy/crds /usr/share/joiner/crds
WORKDIR /
USER 65532:65532
ENTRYPOINT ["python", "-m"]
