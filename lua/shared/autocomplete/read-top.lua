-- The number of the top that a fork names (shared/autocomplete/forks).
local function id_of_fork(fork)
  return string.sub(fork, string.find(fork, '\0', 1, true) + 1)
end

-- The first `most` places of a top, as fields of `entries`: its leaves have them in their order, rank and field of each
-- (shared/autocomplete/top). The second value is true where there are more, the third where it has a front.
local function match_top(tops, id, most)
  local fields, size, sub = new_list(), 0, string.sub
  local field = id .. ':'
  local head, first = unpack(redis.call('HMGET', tops, id, field .. 'A'))
  local has_front, read, last = string.byte(head, 17) == 1, 18, #head
  local leaves = { first }
  while true do
    for at = 1, #leaves do
      local places = leaves[at]
      for byte = 9, #places, 16 do
        if size == most then
          return fields, true, has_front
        end
        size = size + 1
        fields[size] = sub(places, byte, byte + 7)
      end
    end
    if read == last then
      return fields, struct.unpack('>d', head) < math.huge, has_front
    elseif size == most then
      return fields, true, has_front
    end
    -- None has fewer than 8.
    local names, to = {}, math.min(last, read + math.ceil((most - size) / 8))
    for at = read + 1, to do
      names[at - read] = field .. sub(head, at, at)
    end
    read, leaves = to, redis.call('HMGET', tops, unpack(names))
  end
end
