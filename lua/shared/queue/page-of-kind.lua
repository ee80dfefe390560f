-- Where in `failed`, from a place to before another one, the jobs begin whose number is greater. All are of one kind, and
-- stand by their numbers, for these have as many digits each.
local function place_behind(failed, from, to, seq)
  while from < to do
    local middle = math.floor((from + to) / 2)
    local place = string.format('%.0f', middle)
    if tonumber(redis.call('ZRANGE', failed, place, place)[1]) > seq then
      to = middle
    else
      from = middle + 1
    end
  end
  return from
end

-- Dead jobs whose failure was of a kind and whose number is greater than `after`, and whether there are no more.
local function page_of_kind(failed, kinds, kind, after, limit)
  local number = string.match(redis.call('HGET', kinds, kind) or '', '^%d+')
  if not number then
    return {}, true
  end
  local first = redis.call('ZCOUNT', failed, '-inf', '(' .. number)
  local behind = first + redis.call('ZCOUNT', failed, number, number)
  local from = place_behind(failed, first, behind, after)
  local to = math.min(from + limit, behind)
  if from == to then
    return {}, true
  end
  local numbers = redis.call('ZRANGE', failed, string.format('%.0f', from), string.format('%.0f', to - 1))
  return numbers, to == behind
end
