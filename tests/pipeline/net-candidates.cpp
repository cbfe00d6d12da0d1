// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// net-candidates ENGINE MODEL DESCRIPTION TILES THRESHOLD PICTURE...: what a network finds, without GStreamer: for each
// picture, a PPM file of 8 bits, a line with [x1, y1, x2, y2, score, class] of all candidates, in their order.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "detect/net/network.hpp"
#include "tensors/shipped.hpp"

namespace {

using namespace crowd;

[[noreturn]] void fail(const std::string& problem) {
  std::cerr << "net-candidates: " << problem << '\n';
  std::exit(1);
}

struct Ppm {
  int width = 0, height = 0;
  std::string samples;
};

Ppm read_ppm(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Ppm ppm;
  std::string magic;
  int white = 0;
  file >> magic >> ppm.width >> ppm.height >> white;
  file.get();
  if (magic != "P6" || white != 255 || ppm.width < 1 || ppm.height < 1 || ppm.width > 16384 || ppm.height > 16384)
    fail(path + " is no PPM file of 8 bits");
  ppm.samples.resize(3 * static_cast<std::size_t>(ppm.width) * static_cast<std::size_t>(ppm.height));
  if (!file.read(ppm.samples.data(), static_cast<std::streamsize>(ppm.samples.size())))
    fail(path + " is cut off");
  return ppm;
}

net::Picture picture_of(const Ppm& ppm) {
  net::Picture picture;
  picture.width = ppm.width;
  picture.height = ppm.height;
  for (int i = 0; i < 3; i++) {
    picture.components[i].data = reinterpret_cast<const std::uint8_t*>(ppm.samples.data()) + i;
    picture.components[i].stride = 3 * std::ptrdiff_t{ppm.width};
    picture.components[i].step = 3;
    picture.matrix[i][i] = 1;
  }
  return picture;
}

std::unique_ptr<net::Engine> make_engine(const std::string& name, const net::EngineModel& model) {
  std::string problem = "there is no engine " + name;
  for (const net::EngineRow& row : net::engines()) {
    if (row.name != name)
      continue;
    if (auto engine = row.make(model, problem))
      return engine;
  }
  fail(problem);
}

void print(const std::vector<tensors::RawBox>& boxes) {
  const char* separator = "[";
  for (const tensors::RawBox& box : boxes) {
    std::printf("%s[%.9g, %.9g, %.9g, %.9g, %.9g, %u]", separator, static_cast<double>(box.x1),
                static_cast<double>(box.y1), static_cast<double>(box.x2), static_cast<double>(box.y2),
                static_cast<double>(box.score), box.class_id);
    separator = ", ";
  }
  std::puts(boxes.empty() ? "[]" : "]");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7)
    fail("usage: net-candidates ENGINE MODEL DESCRIPTION TILES THRESHOLD PICTURE...");
  std::string problem;
  const std::string path = tensors::find_description(argv[3], problem);
  const auto description = path.empty() ? std::nullopt : tensors::read_description(path, problem);
  if (!description)
    fail(problem);
  net::TileGrid grid;
  if (!net::parse_tiles(argv[4], grid))
    fail(std::string(argv[4]) + " are no tiles");
  net::Network network(make_engine(argv[1], {.path = argv[2], .description = *description}), *description);
  const tensors::DecodeSettings settings{.score_threshold = std::strtof(argv[5], nullptr), .classes = {}};
  for (int i = 6; i < argc; i++) {
    const Ppm ppm = read_ppm(argv[i]);
    std::vector<tensors::RawBox> boxes;
    problem = network.prepare({ppm.width, ppm.height}, grid);
    if (problem.empty())
      problem = network.find(picture_of(ppm), settings, boxes);
    if (!problem.empty())
      fail(problem);
    print(boxes);
  }
}
