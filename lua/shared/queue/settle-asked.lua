-- Children of parents that were not known when they were asked after; others of the same parent have come since, for which it is asked after
-- once more. See shared/queue/news.

-- At most so many; the others are told when it has been asked after again. Answers how many became ready, and how many more may be told.
local function settle_asked(keys, queue, now_us, most)
  local became_ready = 0
  for _, asked in ipairs(queue.asked or {}) do
    local ref = asked.ref
    local last = '[' .. ref .. '\0' .. exact(asked.newest)
    local members = most > 0
        and redis.call('ZRANGEBYLEX', keys.children, '[' .. ref .. '\0', last, 'LIMIT', '0', most)
      or {}
    local letter, id = unpack_end(redis.call('HGET', keys.jobs, 'z' .. ref))
    for _, member in ipairs(members) do
      redis.call('ZREM', keys.children, member)
      if settle_child(keys, queue, string.sub(member, #ref + 2), letter, id, now_us) then
        became_ready = became_ready + 1
      end
    end
    most = most - #members
  end
  return became_ready, most
end

-- These and all others, as settle_children.
local function settle_news(keys, queue, now_us, most)
  local became_ready, left = settle_asked(keys, queue, now_us, most)
  return became_ready + settle_children(keys, queue, now_us, left)
end
