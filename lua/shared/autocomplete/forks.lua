-- Forks: the prefixes behind which words part, wherever many words begin with them (shared/autocomplete/hot). Whoever
-- begins as a fork does, and no shorter one, begins all its words: `forks` is a sorted set without scores, of
--   <prefix>\0<number of its top>
-- and the first of it that begins as a query does is the fork whose words match the query.
local function first_fork(forks, prefix)
  local found = redis.call('ZRANGEBYLEX', forks, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', '0', '1')
  if not found[1] then
    return nil
  end
  local cut = string.find(found[1], '\0', 1, true)
  return string.sub(found[1], 1, cut - 1), string.sub(found[1], cut + 1)
end
