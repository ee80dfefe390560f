-- Numbers that the list keeps of jobs that are elsewhere, or gone: calls that leave some take away as many, from both ends,
-- where they find such. A job that is only elsewhere keeps its place, once, for it may come back to it.
local SWEPT_AT_ONCE = 100
local REBUILT_EACH = 500
local MOST_REBUILT = 3000

local function is_gone(keys, seq)
  return redis.pcall('HEXISTS', keys.jobs, seq) == 0
end

-- Answers whether the user may do that.
local function trim(keys, from, to)
  return not redis.pcall('LTRIM', keys.ready, string.format('%d', from), string.format('%d', to)).err
end

local function sweep_front(keys, most)
  local swept = 0
  repeat
    local numbers, gone = redis.pcall('LRANGE', keys.ready, '0', string.format('%d', SWEPT_AT_ONCE - 1)), 0
    while gone < #numbers and is_gone(keys, numbers[gone + 1]) do
      gone = gone + 1
    end
    if gone > 0 and not trim(keys, gone, -1) then
      return swept
    end
    swept = swept + gone
  until gone == 0 or gone < #numbers or swept >= most
  return swept
end

-- Also one that stands before, too: the first place counts.
local function sweep_back(keys, most)
  local swept = 0
  repeat
    local numbers = redis.pcall('LRANGE', keys.ready, string.format('%d', -SWEPT_AT_ONCE), '-1')
    local first, left = {}, #numbers
    for at, seq in ipairs(numbers) do
      first[seq] = first[seq] or at
    end
    while left > 0 and (first[numbers[left]] < left or is_gone(keys, numbers[left])) do
      left = left - 1
    end
    local gone = #numbers - left
    if gone > 0 and not trim(keys, 0, -gone - 1) then
      return swept
    end
    swept = swept + gone
  until gone == 0 or left > 0 or swept >= most
  return swept
end

-- Of a short list all that stand between others, too.
local function rebuild(keys)
  local numbers, seen, kept = redis.pcall('LRANGE', keys.ready, '0', '-1'), {}, {}
  for _, seq in ipairs(numbers) do
    if not seen[seq] and not is_gone(keys, seq) then
      kept[#kept + 1] = seq
    end
    seen[seq] = true
  end
  -- First they are added once more, for whoever may not do both loses none.
  for at = 1, #kept < #numbers and #kept or 0, 1000 do
    if type(redis.pcall('RPUSH', keys.ready, unpack(kept, at, math.min(at + 999, #kept)))) == 'table' then
      return 0
    end
  end
  if #kept < #numbers and not trim(keys, #numbers, -1) then
    return -#kept
  end
  return #numbers - #kept
end

-- `before`: how many there were when the call began.
local function sweep_ready(keys, queue, before)
  local made = queue.ghosts - before
  local swept = sweep_front(keys, made + 10)
  swept = swept + sweep_back(keys, made + 10)
  local left = queue.ghosts - swept
  local is_turn = math.floor(left / REBUILT_EACH) > math.floor((left - made) / REBUILT_EACH)
  local listed = is_turn and redis.pcall('LLEN', keys.ready)
  if type(listed) == 'number' and listed <= MOST_REBUILT then
    swept = swept + rebuild(keys)
  end
  queue.ghosts = math.max(0, queue.ghosts - swept)
end
