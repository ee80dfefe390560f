-- The state of one subject: one hash, read once and written once a call.
--   layout              the form of the stored data
--   <algorithm>:<name>  the counts of a limit: packed doubles
--     kept_until_ms     the key is kept until then at least
--     token             its newest token
--     …                 see the module of the algorithm
--   time                the time of the subject; see `read_time`
--   refunded            tokens that have been refunded; see shared/rate-limit/refund
--   <caller>            the record of a slot; see `recall_token`
local SUBJECT_LAYOUT = '1'
local FIRST_LIMIT = 5

-- The subject with the counts of its limits; the groups of the limits start at `first`.
local function read_subject(state, caller, limits, first)
  local fields = { 'layout', 'refunded', caller, 'time' }
  for at = first, #limits, #LIMITS do
    fields[#fields + 1] = limits[at + LIMITS.algorithm] .. ':' .. limits[at + LIMITS.name]
  end
  local stored = redis.call('HMGET', state, unpack(fields))
  local token, taken_us, offset_us = read_time(stored[4])
  return {
    caller = caller,
    exists = stored[1],
    layout = stored[1] or SUBJECT_LAYOUT,
    refunded = stored[2] or '',
    record = stored[3],
    token = token,
    taken_us = taken_us,
    offset_us = offset_us,
    fields = fields,
    counts = stored,
  }
end

local function open_subject(state, caller, limits, first)
  local subject = read_subject(state, caller, limits, first)
  if subject.layout ~= SUBJECT_LAYOUT then
    return redis.error_reply('LAYOUT ' .. subject.layout)
  end
  return nil, subject
end

-- Packed lists of pairs of doubles, sorted by the first.
local PAIR_BYTES = 16

local function pair_at(list, place)
  return struct.unpack('>dd', list, (place - 1) * PAIR_BYTES + 1)
end

local function pack_pair(first, second)
  return struct.pack('>dd', first, second)
end

-- The list without its first `count` pairs.
local function without_first(list, count)
  return count == 0 and list or string.sub(list, count * PAIR_BYTES + 1)
end

-- The time of a subject, by which all its counts are measured. It advances as the server's clock does and never steps
-- back: if the clock has, by itself or because a node took over whose clock is behind, it continues from the newest
-- take. So taken units count for their full time, and no longer.
--
-- The field `time` is its only source, for all limits and in every call: a call may not name the limit of the newest
-- take. Doubles, none of which ever shrinks; only the first is stored if the second is equal and the third 0:
--   token      the newest token of the subject
--   taken_us   the time of the subject in the newest take; the token is ahead of that if takes are faster
--              than the clock ticks
--   offset_us  how far its time is ahead of the server's clock
-- Before 0.1.0 it was not written; then only the tokens of the limits that a call names are known.

-- A smaller step of the clock is waited for.
local STEP_US = 10000

local function read_time(stored)
  if not stored then
    return 0, 0, 0
  elseif #stored > 8 then
    return struct.unpack('>ddd', stored)
  end
  local token = struct.unpack('>d', stored)
  return token, token, 0
end

local function pack_time(token, taken_us, offset_us)
  if token == taken_us and offset_us == 0 then
    return struct.pack('>d', token)
  end
  return struct.pack('>ddd', token, taken_us, offset_us)
end

-- The key outlives its counts by at least half of this. So its TTL need not be set each time, and it remembers a call
-- for longer than its caller repeats it.
local KEPT_EXTRA_MS = 20000

-- Makes sure that the key lives so long. Another set of limits may need it for longer.
local function keep_for(state, life_ms)
  if redis.call('PTTL', state) < life_ms then
    redis.call('PEXPIRE', state, string.format('%.0f', life_ms))
  end
end

-- Stores how far a subject's time is ahead of the clock when a take is denied, which writes nothing else: otherwise its
-- time would stand still until one is allowed. A server that is out of memory may reject it; the next call detects the
-- step again.
local function keep_time(state, token, taken_us, offset_us)
  redis.pcall('HSET', state, 'time', pack_time(token, taken_us, offset_us))
end

-- Writes what the limits of a subject have counted.

local function pack_counts(meter)
  local head = pack_pair(meter.kept_until_ms, meter.token)
  if meter.algorithm == 'gcra' then
    return head .. pack_gcra(meter)
  elseif meter.algorithm == 'sliding-window' then
    return head .. pack_sliding_window(meter)
  end
  return head .. meter.leases
end

-- The TTL that the key needs for all limits, or nil if it has it already. Stores that in the meters. The key expires by
-- the server's clock, which has to reach the newest token first, because tokens rise.
local function plan_life(subject, meters)
  local needed_us, short = 0, false
  for _, meter in ipairs(meters) do
    needed_us = math.max(needed_us, meter.reset_us)
  end
  local needed_ms = (subject.now_us + needed_us) / 1000 + KEPT_EXTRA_MS / 2
  for _, meter in ipairs(meters) do
    short = short or needed_ms > meter.kept_until_ms
  end
  if not short then
    return nil
  end
  for _, meter in ipairs(meters) do
    meter.kept_until_ms = math.floor(needed_ms) + KEPT_EXTRA_MS / 2
  end
  return math.ceil((needed_us + subject.offset_us) / 1000) + KEPT_EXTRA_MS
end

-- Writes the counts, the record of the call and the `written` fields, all at once. The key always has an expiry.
-- `at_us` is the call's token, or its time.
local function save_subject(state, subject, meters, call, at_us, written)
  local caller, life_ms = subject.caller, plan_life(subject, meters)
  for _, meter in ipairs(meters) do
    written[#written + 1] = meter.field
    written[#written + 1] = pack_counts(meter)
  end
  if not subject.exists then
    written[#written + 1] = 'layout'
    written[#written + 1] = SUBJECT_LAYOUT
  end
  written[#written + 1] = 'time'
  written[#written + 1] = pack_time(subject.token, subject.taken_us, subject.offset_us)
  if caller ~= '' then
    written[#written + 1] = caller
    written[#written + 1] = pack_pair(call, at_us)
  end
  redis.call('HSET', state, unpack(written))
  if life_ms then
    keep_for(state, life_ms)
  end
  -- When a record is added, old ones are dropped: a caller may live for one call. And in one of 17 calls, as
  -- shared/calls does.
  local is_first = subject.exists and not subject.record
  if caller ~= '' and (is_first or call % 17 == 16) then
    forget_old_fields(state, subject.now_us)
  end
end

-- Makes a call safe to repeat, as shared/calls does, with cheaper records: the call's number and its token as doubles,
-- or the time in microseconds if a call assigns no token. Fields with a dot are those of callers. Records of refunds
-- are forgotten with them; see shared/rate-limit/refund.
local CALL_MEMORY_US = 600000000

-- Refuses a call that arrives after a later one has taken its slot. Otherwise returns the token of this very call, if
-- it was executed before.
local function recall_token(record, call)
  if not record then
    return nil
  end
  local number, token = struct.unpack('>dd', record)
  if number > call then
    return refusal_of_late_call()
  end
  return nil, number == call and token or nil
end

local function forget_old_fields(state, now_us)
  -- Two records, and some other fields.
  drop_over(state, 5, function(record, field)
    if string.find(field, '^refunded:') then
      return struct.unpack('>d', record) <= now_us
    elseif not string.find(field, '.', 1, true) then
      return false
    end
    local _, at_us = struct.unpack('>dd', record)
    return now_us - at_us > CALL_MEMORY_US
  end)
end
