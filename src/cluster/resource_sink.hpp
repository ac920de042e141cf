// What the objects of one resource become.
#pragma once

#include <string_view>

#include "rankward/result.hpp"

namespace rankward::cluster {

// Called from one thread. An Error means that this object could not be read; the rest goes on.
class ResourceSink {
 public:
  virtual ~ResourceSink() = default;

  // A list: begin_list(), its items, end_list(). What was there before is replaced at end_list(),
  // all at once; a list that fails on the way is begun again and leaves nothing.
  virtual void begin_list() = 0;
  virtual Result<void> list_item(std::string_view json) = 0;
  virtual void end_list() = 0;

  // Events of a watch, each possibly more than once.
  virtual Result<void> put(std::string_view json) = 0;
  virtual Result<void> remove(std::string_view json) = 0;
};

}  // namespace rankward::cluster
