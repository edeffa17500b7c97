#include "inspect/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <string_view>
#include <vector>

#include "assay/error.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxRequestBytes = 16 << 10;
constexpr size_t kMaxConnections = 64;
/// Timeout for receiving a request, for sending each part of a response, and for the peer to close.
constexpr auto kRequestTime = std::chrono::seconds(5), kSendTime = std::chrono::seconds(30),
               kCloseTime = std::chrono::seconds(2);

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  });
}

/// 127.0.0.1 or localhost, with an optional port.
bool is_this_machine(std::string_view host) {
  const size_t colon = host.find(':');
  const std::string_view port = colon == std::string_view::npos ? "0" : host.substr(colon + 1);
  const bool is_number =
      !port.empty() && std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  host = host.substr(0, colon);
  return is_number && (host == "127.0.0.1" || equals_ignoring_case(host, "localhost"));
}

/// A response: its status line, an additional header line, and its text; nothing for the page itself.
struct Answer {
  std::string_view status;
  std::string_view sentence;
  std::string_view header = "";
};

constexpr Answer kPage = {"200 OK", ""};
constexpr Answer kBadRequest = {"400 Bad Request", "This is no HTTP request with one Host."};
constexpr Answer kForeignHost = {"403 Forbidden",
                                 "Open this page as http://127.0.0.1 or http://localhost, with its port."};
constexpr Answer kNoPage = {"404 Not Found", "There is one page here: /"};
constexpr Answer kNoToken = {"403 Forbidden",
                             "Open the address that assay printed, as a whole: its path is a token."};
constexpr Answer kBadMethod = {"405 Method Not Allowed", "Only GET and HEAD are answered.",
                               "Allow: GET, HEAD\r\n"};
constexpr Answer kTooLong = {"431 Request Header Fields Too Large", "The request is too long."};

struct Request {
  std::string_view method, target;
  std::vector<std::string_view> hosts;
  bool is_valid = false;
};

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

Request parse_request(std::string_view text) {
  Request request;
  const std::string_view line = take_line(text);
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return request;
  request.method = line.substr(0, first);
  request.target = line.substr(first + 1, last - first - 1);
  request.is_valid = line.substr(last + 1).starts_with("HTTP/1.");
  while (!text.empty()) {
    const std::string_view header = take_line(text);
    const size_t colon = header.find(':');
    if (colon != std::string_view::npos && equals_ignoring_case(header.substr(0, colon), "host"))
      request.hosts.push_back(trimmed(header.substr(colon + 1)));
  }
  return request;
}

/// In a time that does not tell how much of them is equal.
bool are_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned char>(a[i] ^ b[i]);
  return different == 0;
}

Answer answer_to(const Request& request, const ServedPage& served) {
  if (!request.is_valid || request.hosts.size() != 1) return kBadRequest;
  if (!is_this_machine(request.hosts[0])) return kForeignHost;
  if (request.method != "GET" && request.method != "HEAD") return kBadMethod;
  std::string_view path = request.target.substr(0, request.target.find('?'));
  const std::string own = served.path();
  if (!are_equal(path.substr(0, own.size()), own)) return served.token.empty() ? kNoPage : kNoToken;
  path.remove_prefix(own.size());
  return path.empty() || path == "index.html" ? kPage : kNoPage;
}

/// The end of the headers, or npos.
size_t end_of_headers(std::string_view text) {
  const size_t crlf = text.find("\r\n\r\n"), lf = text.find("\n\n");
  return std::min(crlf, lf);
}

class Connection {
 public:
  explicit Connection(Descriptor socket)
      : socket_(std::move(socket)), deadline_(Clock::now() + kRequestTime) {}

  int fd() const { return socket_.get(); }
  short events() const { return state_ == State::kSending ? POLLOUT : POLLIN; }
  Clock::time_point deadline() const { return deadline_; }
  /// Does what is possible without blocking. False when the connection is finished.
  bool proceed(const ServedPage& served);

 private:
  enum class State : uint8_t { kReading, kSending, kClosing };

  bool read(const ServedPage& served);
  bool send();
  void prepare(const Answer& answer, bool wants_body, const std::string& page);

  Descriptor socket_;
  Clock::time_point deadline_;
  State state_ = State::kReading;
  std::string request_;
  std::string head_;       ///< of the answer, with its sentence
  std::string_view body_;  ///< the page
};

void Connection::prepare(const Answer& answer, bool wants_body, const std::string& page) {
  const bool is_page = answer.sentence.empty();
  const size_t length = is_page ? page.size() : answer.sentence.size() + 1;
  head_ = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\n{}Cache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: "
      "same-origin\r\n"
      "Connection: close\r\n\r\n",
      answer.status, is_page ? "text/html" : "text/plain", length, answer.header);
  if (wants_body && is_page) body_ = page;
  if (wants_body && !is_page) head_ += fmt::format("{}\n", answer.sentence);
  state_ = State::kSending;
  deadline_ = Clock::now() + kSendTime;
}

bool Connection::read(const ServedPage& served) {
  char buffer[4096];
  const ssize_t n = ::recv(fd(), buffer, sizeof buffer, 0);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (state_ == State::kClosing) return n > 0;
  if (n == 0) return false;
  // The terminator may begin in data received earlier.
  const size_t searched = request_.size() < 3 ? 0 : request_.size() - 3;
  request_.append(buffer, static_cast<size_t>(n));
  const size_t end = end_of_headers(std::string_view(request_).substr(searched));
  if (end == std::string_view::npos) {
    if (request_.size() > kMaxRequestBytes) prepare(kTooLong, true, served.page);
    return true;
  }
  const Request request = parse_request(std::string_view(request_).substr(0, searched + end));
  prepare(answer_to(request, served), request.method != "HEAD", served.page);
  return true;
}

bool Connection::send() {
  std::string_view rest = head_.empty() ? body_ : std::string_view(head_);
  const ssize_t n = ::send(fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (head_.empty())
    body_.remove_prefix(static_cast<size_t>(n));
  else
    head_.erase(0, static_cast<size_t>(n));
  deadline_ = Clock::now() + kSendTime;
  if (!head_.empty() || !body_.empty()) return true;
  // Closing with unread data would reset the connection and discard what was sent.
  ::shutdown(fd(), SHUT_WR);
  state_ = State::kClosing;
  deadline_ = Clock::now() + kCloseTime;
  return true;
}

bool Connection::proceed(const ServedPage& served) {
  return state_ == State::kSending ? send() : read(served);
}

Descriptor listen_at(int port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int yes = 1;
  const bool listens =
      socket && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(socket.get(), 64) == 0;
  if (!listens) fail(ErrorCode::kIo, "cannot listen at 127.0.0.1:{}: {}", port, std::strerror(errno));
  return socket;
}

int port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

/// Timeout of poll() until the first deadline, in milliseconds; -1: none.
int time_left(const std::list<Connection>& connections) {
  if (connections.empty()) return -1;
  auto first = Clock::time_point::max();
  for (const Connection& c : connections) first = std::min(first, c.deadline());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, 60'000));
}

}  // namespace

std::string random_token() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    fail(ErrorCode::kIo, "there are no random numbers for a token: {}", std::strerror(errno));
  std::string token;
  for (const unsigned char b : bytes) token += fmt::format("{:02x}", b);
  return token;
}

PageServer::PageServer(ServedPage page, int port)
    : page_(std::move(page)), listener_(listen_at(port)), port_(port_of(listener_.get())) {}

std::string PageServer::address() const { return fmt::format("http://127.0.0.1:{}{}", port_, page_.path()); }

void PageServer::serve(int stop) {
  std::list<Connection> connections;
  std::vector<pollfd> polled;
  while (true) {
    polled = {{stop, POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Connection& c : connections) polled.push_back({c.fd(), c.events(), 0});
    if (::poll(polled.data(), polled.size(), time_left(connections)) < 0) {
      if (errno == EINTR) continue;
      fail(ErrorCode::kIo, "cannot wait for requests: {}", std::strerror(errno));
    }
    if (polled[0].revents != 0) return;
    size_t i = 2;
    for (auto c = connections.begin(); c != connections.end(); ++i) {
      const bool goes_on = (polled[i].revents == 0 || c->proceed(page_)) && Clock::now() < c->deadline();
      c = goes_on ? std::next(c) : connections.erase(c);
    }
    if (polled[1].revents == 0) continue;
    Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) continue;
      if (connections.empty()) fail(ErrorCode::kIo, "cannot answer a request: {}", std::strerror(errno));
      connections.pop_front();  // the oldest makes room
      continue;
    }
    if (connections.size() >= kMaxConnections) connections.pop_front();
    connections.emplace_back(std::move(socket));
  }
}

}  // namespace assay
