-- What is told of parents; see shared/queue/parents.

-- Queue (empty: this one) and id of a parent.
local function split_ref(jobs, ref)
  local name, id = string.match(ref, '^q(.*)\1(.*)$')
  if name then
    return name, id
  end
  local record = redis.call('HGET', jobs, ref)
  local own = record and read_job(record).id or ''
  return '', own == '' and ref or own
end

local ENDS = { f = 'done', d = 'dead', x = 'cancelled', a = 'absent' }

-- `waits`: it has not ended for this child. Answers how many bytes there are of what it left.
local function tell_parent(told, jobs, ref, waits)
  local name, id = split_ref(jobs, ref)
  local state, result, kind, message = 'pending', '', '', ''
  local packed = not waits and redis.call('HGET', jobs, 'z' .. ref)
  if packed then
    local letter, own, text_at = struct.unpack('>c1Hc0', packed)
    state, id = ENDS[letter], own
    if letter == 'f' then
      -- See shared/queue/keep-end.
      result = #packed < text_at and redis.call('HGET', jobs, 'o' .. ref) or string.sub(packed, text_at)
    elseif letter == 'd' then
      kind, message = string.match(string.sub(packed, text_at), '^([^%z]*)%z(.*)$')
    end
  end
  for _, part in ipairs({ name, id, state, result, kind, message }) do
    told[#told + 1] = part
  end
  return #result + #message
end
