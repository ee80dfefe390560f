-- Holes. Redis keeps the messages of a stream in nodes of some dozens, and frees a node only after all of them are
-- removed: one remaining message keeps the bytes of its neighbours, up to 4 KiB. If so much is held that way, the
-- messages are rewritten, a few per call: they move from the front of `log` to the end of `early`, another stream,
-- which ends at `moved`. Readers see no difference. When the log has been emptied so, `early` replaces it. Call this if
-- `feed.look` or `feed.moved` is set, after commands that free memory.

-- Whether the log takes more than three times the nodes that its messages need: two of three were removed since it was
-- dense.
local function is_sparse(keys, feed)
  local length = redis.pcall('XLEN', keys.log)
  -- Also if the user has no right to ask.
  if type(length) ~= 'number' or length == 0 then
    return false
  end
  -- The embedded demo engine does not know the command; it keeps nothing for long anyway.
  local info, nodes = redis.pcall('XINFO', 'STREAM', keys.log), 0
  for at = 1, #info, 2 do
    if info[at] == 'radix-tree-keys' then
      nodes = info[at + 1]
    end
  end
  -- By Redis' defaults a node has 4096 bytes or 100 messages, each with some bytes in addition to its body.
  local bytes = feed.bytes - feed.large + 40 * length
  return nodes > 16 + 3 * math.max(bytes / 4096, length / 100)
end

-- Moves the oldest messages of the log; returns whether that has emptied it.
local function move_oldest(keys, feed, budget)
  repeat
    local wanted, moved = at_once(budget), {}
    for at, raw in ipairs(redis.call('XRANGE', keys.log, '-', '+', 'COUNT', wanted)) do
      redis.call('XADD', keys.early, raw[1], unpack(raw[2]))
      moved[at] = raw[1]
      -- The last field is the body, or the size of one that is stored apart.
      spend(budget, 1, #raw[2][#raw[2]])
    end
    if #moved > 0 then
      redis.call('XDEL', keys.log, unpack(moved))
      feed.moved = tonumber(string.sub(moved[#moved], 1, -3))
    end
    if #moved < wanted then
      return true
    end
  until not is_left(budget)
  return false
end

-- Whether the final rename is permitted: otherwise messages would stay where no reader looks. Nothing is renamed, so
-- that the error differs from that of a missing right.
local function may_rename(keys)
  local refusal = redis.pcall('RENAME', keys.early, keys.log)
  return string.find(refusal.err or '', 'no such key', 1, true) ~= nil
end

-- Moves some messages if moving has begun or is worthwhile. `done`: how many this call has added and removed. It moves
-- twice as many, so that it ends even if others append meanwhile.
local function compact(keys, feed, done)
  if feed.moved == 0 then
    if not is_sparse(keys, feed) then
      return
    end
    -- The client that cleared the feed may not have known `early`.
    redis.call('UNLINK', keys.early)
    if not may_rename(keys) then
      return
    end
    stand_apart(keys.meta, feed)
  end
  if move_oldest(keys, feed, budget_of(4 + 2 * done)) and redis.call('EXISTS', keys.early) == 1 then
    redis.call('RENAME', keys.early, keys.log)
    feed.moved = 0
    keep_with_feed(feed, keys.log)
  else
    keep_with_feed(feed, keys.early)
  end
end
