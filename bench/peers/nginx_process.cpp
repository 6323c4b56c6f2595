#include "bench/peers/nginx_process.hpp"

#include "bench/peers/free_port.hpp"

#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

// As its manual has it for many small files: they stay open, connections are kept.
std::string configuration(const fs::path& directory, const fs::path& files, std::uint16_t port) {
  const auto own = directory.string();
  return fmt::format(R"(daemon off;
{user}worker_processes auto;
pid {own}/nginx.pid;
error_log /dev/stdout notice;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  open_file_cache max=10000;
  client_body_temp_path {own}/nginx-body;
  proxy_temp_path {own}/nginx-proxy;
  fastcgi_temp_path {own}/nginx-fastcgi;
  uwsgi_temp_path {own}/nginx-uwsgi;
  scgi_temp_path {own}/nginx-scgi;
  server {{ listen 127.0.0.1:{port}; root {files}; }}
}}
)",
                     fmt::arg("user", ::geteuid() == 0 ? "user root;\n" : ""), fmt::arg("own", own),
                     fmt::arg("port", port), fmt::arg("files", files.string()));
}

} // namespace

nginx_process::nginx_process(const fs::path& directory, const fs::path& files)
    : port_(free_port()) {
  const auto own = fs::absolute(directory);
  const auto file = own / "nginx.conf";
  std::ofstream(file) << configuration(own, fs::absolute(files), port_);
  running_ = start_peer({"nginx", "-p", own, "-c", file}, SIGTERM);
  constexpr std::string_view ready = "start worker process ";
  if (read_until(running_.output, ready).find(ready) == std::string::npos) {
    end_peer(running_);
    throw std::runtime_error("nginx cannot be started: install the package nginx-light");
  }
}

nginx_process::~nginx_process() { end_peer(running_, SIGTERM); }

std::string nginx_process::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

} // namespace hearth::bench
