-- Where only so many jobs may be claimed at once, one that ends lets another one start.

-- Whether a worker that waits is to be called because a job is claimed no more.
local function frees_others(queue)
  if queue.idle == 0 or queue.ready == 0 then
    return false
  end
  return is_marked(queue, GROUPS) or parse_settings(queue.settings).concurrency > 0
end
