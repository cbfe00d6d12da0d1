// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/ssdgraph.hpp"

#include <unordered_map>
#include <utility>

#include "detect/net/protobuf.hpp"

namespace crowd::net {

namespace {

// Fields of TensorFlow's GraphDef, NodeDef, AttrValue and of an entry of the map of attributes.
enum : std::uint32_t { graph_node = 1 };
enum : std::uint32_t { node_name = 1, node_op = 2, node_input = 3, node_attr = 5 };
enum : std::uint32_t { attr_type = 6, map_key = 1, map_value = 2 };
constexpr std::uint64_t dt_float = 1;

constexpr std::string_view input_name = "image_tensor";
constexpr std::string_view preprocessor = "Preprocessor/";

struct Node {
  std::string_view op, message;
  std::vector<std::string_view> inputs;
};
using Nodes = std::unordered_map<std::string_view, Node>;

bool read_node(const Field& field, Nodes& nodes) {
  Node node{.op = {}, .message = field.bytes, .inputs = {}};
  std::string_view name;
  FieldReader reader(field.bytes);
  for (Field part; reader.next(part);) {
    if (part.number == node_name)
      name = part.bytes;
    else if (part.number == node_op)
      node.op = part.bytes;
    else if (part.number == node_input)
      node.inputs.push_back(part.bytes);
  }
  const bool whole = !reader.damaged() && !name.empty() && !node.op.empty();
  nodes.emplace(name, std::move(node));
  return whole;
}

bool read_nodes(std::string_view graph, Nodes& nodes) {
  FieldReader reader(graph);
  for (Field field; reader.next(field);) {
    if (field.number == graph_node && !read_node(field, nodes))
      return false;
  }
  return !reader.damaged() && !nodes.empty();
}

/// The node that an input names: "^node" waits for it, "node:1" takes its second output.
std::string_view node_of(std::string_view input) {
  if (input.starts_with('^'))
    input.remove_prefix(1);
  return input.substr(0, input.rfind(':'));
}

bool is_picture(std::string_view input) {
  return input.starts_with(preprocessor) || input == input_name;
}

void write_input(FieldWriter& graph) {
  FieldWriter type, attribute, node;
  type.number(attr_type, dt_float);
  attribute.bytes(map_key, "dtype");
  attribute.bytes(map_value, type.message());
  node.bytes(node_name, input_name);
  node.bytes(node_op, "Placeholder");
  node.bytes(node_attr, attribute.message());
  graph.bytes(graph_node, node.message());
}

void write_node(const Node& node, FieldWriter& graph) {
  FieldWriter copy;
  FieldReader reader(node.message);
  for (Field part; reader.next(part);) {
    if (part.number == node_input && is_picture(node_of(part.bytes)))
      copy.bytes(node_input, input_name);
    else
      copy.append(part.whole);
  }
  graph.bytes(graph_node, copy.message());
}

/// Writes what a node needs before the node, each once.
class Cut {
 public:
  explicit Cut(const Nodes& nodes) : nodes_(nodes) {
    write_input(graph_);
  }

  /// False with the name of what is missing. Iterative: a file may chain as many nodes as it likes.
  bool add(std::string_view head, std::string_view& missing) {
    std::vector<std::pair<std::string_view, bool>> stack{{head, false}};
    while (!stack.empty()) {
      const auto [name, inputs_written] = stack.back();
      stack.pop_back();
      const auto found = nodes_.find(name);
      missing = name;
      if (found == nodes_.end())
        return false;
      if (inputs_written) {
        write_node(found->second, graph_);
        continue;
      }
      if (!seen_.emplace(name, true).second)
        continue;
      stack.emplace_back(name, true);
      for (const std::string_view input : found->second.inputs) {
        if (!is_picture(node_of(input)))
          stack.emplace_back(node_of(input), false);
        else
          reaches_picture_ = true;
      }
    }
    return true;
  }

  bool reaches_picture() const {
    return reaches_picture_;
  }
  const std::string& bytes() const {
    return graph_.message();
  }

 private:
  const Nodes& nodes_;
  FieldWriter graph_;
  std::unordered_map<std::string_view, bool> seen_;
  bool reaches_picture_ = false;
};

/// The convolution that a bias is added to, whose name the pair of them gets in OpenCV.
std::string convolution_of(const Node& bias) {
  return bias.inputs.empty() ? std::string() : std::string(node_of(bias.inputs[0]));
}

bool find_heads(const Nodes& nodes, SsdGraph& cut, std::vector<std::string>& heads) {
  for (int layer = 0;; layer++) {
    const std::string predictor = "BoxPredictor_" + std::to_string(layer);
    const auto boxes = nodes.find(heads.emplace_back(predictor + "/BoxEncodingPredictor/BiasAdd"));
    const auto classes = nodes.find(heads.emplace_back(predictor + "/ClassPredictor/BiasAdd"));
    if (boxes == nodes.end() || classes == nodes.end()) {
      heads.resize(heads.size() - 2);
      return layer > 0;
    }
    cut.boxes.push_back(convolution_of(boxes->second));
    cut.classes.push_back(convolution_of(classes->second));
  }
}

}  // namespace

std::optional<SsdGraph> cut_ssd_graph(std::string_view graph, std::string& problem) {
  Nodes nodes;
  if (!read_nodes(graph, nodes)) {
    problem = "it is no TensorFlow graph, or is cut off; fetch it again";
    return {};
  }
  SsdGraph cut;
  std::vector<std::string> heads;
  if (!find_heads(nodes, cut, heads)) {
    problem =
        "it has no node BoxPredictor_0/BoxEncodingPredictor/BiasAdd; of TensorFlow's graphs only frozen SSDs of its "
        "object detection API are read, convert others to ONNX";
    return {};
  }
  Cut writer(nodes);
  for (const std::string& head : heads) {
    if (std::string_view missing; !writer.add(head, missing)) {
      problem = "its node " + std::string(missing) + " is missing; fetch it again";
      return {};
    }
  }
  if (!writer.reaches_picture()) {
    problem = "its box predictors take nothing from Preprocessor/ or image_tensor; convert it to ONNX";
    return {};
  }
  cut.bytes = writer.bytes();
  cut.input = input_name;
  return cut;
}

}  // namespace crowd::net
