-- Hot prefixes: those that many words begin with. Each has a list of its first places in `tops` (shared/
-- autocomplete/tops), so that nobody has to read all that match. What holds after every call:
--   1. each prefix that more than MOST_COLD words and LEAST_NEW entries begin with is hot, the empty one too;
--   2. what begins a hot prefix is hot;
--   3. a list holds exactly the first places of all that match: all of them, and more than LEAST_HOT, or
--      LEAST_TOP at least.
-- Of a prefix that is not hot all words can be read: an entry has at most 8.
-- A prefix is made hot with more entries than this only, so that not every removal ends it again.
local LEAST_NEW = 24
local MOST_COLD = 32

-- The lists of all hot prefixes of these suffixes, and behind how many bytes each suffix is hot no more.
local function read_hot(tops, suffixes)
  local lists, ends = {}, {}
  for at, suffix in ipairs(suffixes) do
    local length = 0
    local known
    repeat
      local prefixes = {}
      for more = 0, math.min(7, #suffix - length) do
        prefixes[more + 1] = string.sub(suffix, 1, length + more)
      end
      local found = redis.call('HMGET', tops, unpack(prefixes))
      known = 0
      while found[known + 1] do
        known = known + 1
        lists[prefixes[known]] = found[known]
      end
      length = length + known
    until known < #prefixes or length > #suffix
    ends[at] = length
  end
  return lists, ends
end

-- Makes prefixes of a suffix hot, from this length on, where there are too many words.
local function make_hot(keys, changed, suffix, length)
  local list, listed = nil, -1
  for bytes = length, #suffix do
    local prefix = string.sub(suffix, 1, bytes)
    local from, to = from_prefix(prefix), to_prefix(prefix)
    local count = redis.call('ZLEXCOUNT', keys.words, from, to)
    if count <= MOST_COLD then
      return
    end
    -- Often there is but one way on.
    if count ~= listed then
      local best = new_best(MOST_TOP)
      offer_members(best, redis.call('ZRANGEBYLEX', keys.words, from, to, 'LIMIT', '0', MOST_READ))
      list, listed = pack_top(best, true), count
    end
    if top_size(list) <= LEAST_NEW then
      return
    end
    redis.call('HSET', keys.tops, prefix, list)
    changed[prefix] = true
  end
end

-- Notes that an entry has come, whose words are stored.
local function enter_hot(keys, changed, suffixes, entry, ref, place)
  local lists, ends = read_hot(keys.tops, suffixes)
  for prefix, list in pairs(lists) do
    local longer, before = with_place(list, entry.rank, ref, place)
    if longer then
      redis.call('HSET', keys.tops, prefix, longer)
    end
    if longer and before < FRONT_PLACES then
      changed[prefix] = true
    end
  end
  for at, suffix in ipairs(suffixes) do
    make_hot(keys, changed, suffix, ends[at])
  end
end
