#include "writer.h"

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "support/png.h"

namespace video {
namespace {

class Pictures : public Writer {
 public:
  Pictures(std::string path, Size size) : path_(std::move(path)), size_(size), percent_(path_.find('%')) {
    if (percent_ == std::string::npos) return;
    end_ = path_.find('d', percent_);
    if (end_ == std::string::npos || path_.find_first_not_of("0123456789", percent_ + 1) != end_)
      throw std::runtime_error("'" + path_ + "' is not a name like frame_%04d.png");
  }
  bool wants(bool is_last) const override { return is_last || percent_ != std::string::npos; }
  void write(const std::vector<std::uint8_t>& rgb) override {
    std::string path = path_;
    if (percent_ != std::string::npos) {
      const std::string digits = path_.substr(percent_ + 1, end_ - percent_ - 1);
      std::string number = std::to_string(count_++);
      const std::size_t width = digits.empty() ? 0 : std::min<std::size_t>(std::stoul(digits), 20);
      number.insert(0, width > number.size() ? width - number.size() : 0, '0');
      path.replace(percent_, end_ + 1 - percent_, number);
    }
    sample::write_png(path, size_.width, size_.height, rgb);
  }

 private:
  std::string path_;
  Size size_;
  std::size_t percent_, end_ = 0;
  int count_ = 0;
};

class Raw : public Writer {
 public:
  explicit Raw(const std::string& path) : path_(path), file_(path, std::ios::binary) { check(); }
  void write(const std::vector<std::uint8_t>& rgb) override {
    file_.write(reinterpret_cast<const char*>(rgb.data()), static_cast<std::streamsize>(rgb.size()));
    check();
  }
  void finish() override {
    file_.close();
    check();
  }

 private:
  void check() const {
    if (!file_) throw std::runtime_error("cannot write " + path_);
  }
  std::string path_;
  std::ofstream file_;
};

}  // namespace

std::unique_ptr<Writer> open_writer(const std::string& path, Size size, double rate) {
  if (path.ends_with(".png")) return std::make_unique<Pictures>(path, size);
  if (path.ends_with(".rgb")) return std::make_unique<Raw>(path);
  if (path.ends_with(".mp4") || path.ends_with(".mkv")) return open_video_writer(path, size, rate);
  throw std::runtime_error("--out " + path + ": the name ends with .png, .mp4, .mkv or .rgb");
}

}  // namespace video
