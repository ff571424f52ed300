// Reads the conformance suite of CuTe layout algebra, and runs an implementation against it: C++17, no library.
//
//   g++ -std=c++17 -O2 reader.cpp -o reader
//   ./reader conformance.json          against the definition
//   ./reader conformance.json cpp      against what CuTe C++ answers; dsl: the CuTe DSL
//
// Put your own algebra into offered(); three operations stand there as an example. The exit status is 1 if one is wrong.

#include <cctype>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

// JSON, as far as the file has it; a list of a shape or a tuple is a list here too.
struct Value {
  enum Kind { Null, Number, Text, List, Object } kind = Null;
  long long number = 0;
  std::string text;
  std::vector<Value> items;
  std::vector<std::string> keys;

  const Value* find(const std::string& key) const {
    for (size_t i = 0; i < keys.size(); ++i)
      if (keys[i] == key) return &items[i];
    return nullptr;
  }
};

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Value value() {
    Value v;
    const char c = next();
    if (c == '"') {
      v.kind = Value::Text;
      v.text = word();
    } else if (c == '[' || c == '{') {
      v.kind = c == '[' ? Value::List : Value::Object;
      ++at_;
      while (next() != (c == '[' ? ']' : '}')) {
        if (c == '{') {
          v.keys.push_back(word());
          next();
          ++at_;  // the colon
        }
        v.items.push_back(value());
        if (next() == ',') ++at_;
      }
      ++at_;
    } else if (text_.compare(at_, 4, "null") == 0) {
      at_ += 4;
    } else {
      size_t length = 0;
      v.kind = Value::Number;
      v.number = std::stoll(text_.substr(at_), &length);
      at_ += length;
    }
    return v;
  }

 private:
  char next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    if (at_ >= text_.size()) throw std::runtime_error("the line ends too early");
    return text_[at_];
  }

  std::string word() {
    std::string out;
    for (next(), ++at_; text_.at(at_) != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;  // reasons alone have them
      out += text_.at(at_);
    }
    ++at_;
    return out;
  }

  const std::string& text_;
  size_t at_ = 0;
};

// A nested tuple of integers in notation: (4,(2,1)).
struct Tree {
  bool leaf = true;
  long long number = 0;
  std::vector<Tree> modes;
};

Tree read_tree(const std::string& text, size_t& at) {
  Tree t;
  if (text.at(at) != '(') {
    size_t length = 0;
    t.number = std::stoll(text.substr(at), &length);
    at += length;
    return t;
  }
  t.leaf = false;
  for (++at; text.at(at) != ')';) {
    t.modes.push_back(read_tree(text, at));
    if (text.at(at) == ',') ++at;
  }
  ++at;
  return t;
}

std::string write(const Tree& t) {
  if (t.leaf) return std::to_string(t.number);
  std::string out = "(";
  for (size_t i = 0; i < t.modes.size(); ++i) out += (i ? "," : "") + write(t.modes[i]);
  return out + ")";
}

struct Layout {
  Tree shape, stride;
};

struct NotOffered {};  // of this example: swizzles, coordinates, operations that it does not have
struct Refused {};     // no right answer

Layout read_layout(const std::string& text) {
  if (text.find_first_of("SE@") != std::string::npos || text.find(" o ") != std::string::npos) throw NotOffered();
  size_t at = 0;
  Layout l;
  l.shape = read_tree(text, at);
  ++at;  // the colon
  l.stride = read_tree(text, at);
  return l;
}

// Strides of modes of extent 1 are never used: two answers that differ in them alone are the same.
void drop_unused(const Tree& shape, Tree& stride) {
  if (shape.leaf && shape.number == 1) stride.number = 0;
  for (size_t i = 0; i < shape.modes.size(); ++i) drop_unused(shape.modes[i], stride.modes.at(i));
}

std::string comparable(const Value& v) {
  if (v.kind == Value::Number) return std::to_string(v.number);
  if (v.kind != Value::Text) throw NotOffered();
  if (v.text.find(':') == std::string::npos) return v.text;
  Layout l = read_layout(v.text);
  drop_unused(l.shape, l.stride);
  return write(l.shape) + ":" + write(l.stride);
}

Value text(const std::string& s) {
  Value v;
  v.kind = Value::Text;
  v.text = s;
  return v;
}

// What an implementation should answer: by the definition, or as CuTe does. No value: it refuses.
const Value* expected(const Value& one, const std::string& who, Value& room) {
  const Value* answer = one.find("answer");
  const Value* mark = who.empty() ? nullptr : one.find(who);
  if (!mark || mark->text == "same" || mark->text == "unasked") return answer;
  if (const Value* other = one.find(who + "_answer")) {
    room = text(other->text);
    return &room;
  }
  return nullptr;  // refused, or a crash
}

// ---- the algebra under test ----------------------------------------------------------------------------------------

void leaves(const Tree& t, std::vector<long long>& out) {
  if (t.leaf) out.push_back(t.number);
  for (const Tree& mode : t.modes) leaves(mode, out);
}

long long size(const Layout& l) {
  std::vector<long long> extents;
  leaves(l.shape, extents);
  long long n = 1;
  for (long long extent : extents) n *= extent;
  return n;
}

long long offset(long long index, const Layout& l) {
  std::vector<long long> extents, strides;
  leaves(l.shape, extents);
  leaves(l.stride, strides);
  long long sum = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    const bool last = i + 1 == extents.size();  // the last mode runs on
    sum += (last ? index : index % extents[i]) * strides[i];
    index /= extents[i];
  }
  return sum;
}

std::string coalesce(const Layout& l) {
  std::vector<long long> extents, strides, shape, stride;
  leaves(l.shape, extents);
  leaves(l.stride, strides);
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 1) continue;
    if (!shape.empty() && shape.back() * stride.back() == strides[i]) {
      shape.back() *= extents[i];
    } else {
      shape.push_back(extents[i]);
      stride.push_back(strides[i]);
    }
  }
  if (shape.empty()) return "1:0";
  Layout out;
  if (shape.size() == 1) {
    out.shape.number = shape[0];
    out.stride.number = stride[0];
  } else {
    out.shape.leaf = out.stride.leaf = false;
    for (size_t i = 0; i < shape.size(); ++i) {
      out.shape.modes.push_back({true, shape[i], {}});
      out.stride.modes.push_back({true, stride[i], {}});
    }
  }
  return write(out.shape) + ":" + write(out.stride);
}

std::string offered(const std::string& operation, const std::vector<Value>& operands) {
  if (operation == "size") return std::to_string(size(read_layout(operands.at(0).text)));
  if (operation == "coalesce" && operands.size() == 1) return coalesce(read_layout(operands[0].text));
  if (operation == "crd2idx" && operands.at(0).kind == Value::Number)
    return std::to_string(offset(operands[0].number, read_layout(operands[1].text)));
  throw NotOffered();
}

// --------------------------------------------------------------------------------------------------------------------

struct Count {
  int right = 0, wrong = 0, left_out = 0;
};

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "reader CONFORMANCE.JSON [dsl|cpp]\n";
    return 2;
  }
  const std::string who = count > 2 ? arguments[2] : "";
  std::ifstream file(arguments[1]);
  std::map<std::string, Count> counts;
  int wrong = 0, cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("    {\"operation\"", 0) != 0) continue;  // a case is one line
    const Value one = Reader(line).value();
    const std::string operation = one.find("operation")->text;
    Count& counted = counts[operation];
    Value room;
    ++cases;
    try {
      std::string found = "refused";
      try {
        found = comparable(text(offered(operation, one.find("operands")->items)));
      } catch (const Refused&) {
      }
      const Value* right = expected(one, who, room);
      const std::string want = right ? comparable(*right) : "refused";
      if (found == want) {
        ++counted.right;
      } else {
        ++counted.wrong;
        ++wrong;
        std::cout << "WRONG: " << line << "\n   found " << found << ", not " << want << "\n";
      }
    } catch (const NotOffered&) {
      ++counted.left_out;
    }
  }
  for (const auto& [operation, counted] : counts)
    if (counted.right + counted.wrong)
      std::cout << operation << ": " << counted.right << " right, " << counted.wrong << " wrong, " << counted.left_out
                << " not offered\n";
  std::cout << cases << " cases\n";
  return wrong ? 1 : 0;
}
