-- Spans of time are counted in buckets, eight to a doubling, so that each is at most an eighth wide: 0 is below one
-- millisecond, the last one everything from 38 days on.
local LAST_BUCKET = 254

local function bucket_of(span_ms)
  if span_ms < 1 then
    return 0
  end
  local mantissa, exponent = math.frexp(span_ms)
  local bucket = exponent * 8 + math.floor(mantissa * 16) - 15
  return bucket < LAST_BUCKET and bucket or LAST_BUCKET
end

-- A letter and the name of the jobs, or the letter alone if the name is too long.
local function note_key(kind, name)
  return #name < 255 and kind .. name or kind
end

-- Notes an event of a job for the statistics; see `leave_notes`.
local function count_job(queue, kind, name)
  local counted = queue.counted
  if not counted then
    counted = {}
    queue.counted = counted
  end
  local key = note_key(kind, name)
  if not counted[key] then
    counted[key], counted[#counted + 1] = 0, key
  end
  counted[key] = counted[key] + 1
end

-- A note of jobs that are only counted.
local function count_note(key, count)
  return struct.pack(NOTE, #key, key, 0, count, 0, 0)
end

-- As shared/queue/plain, for any jobs.

-- Notes the jobs of a flat list: since when each waited or ran, and its name. `per_ms`: units of that time in a
-- millisecond.
local function note_spans(queue, kind, list, now, per_ms)
  local groups, by_name = {}, {}
  for at = 1, #list, 2 do
    local name, span_ms = list[at + 1], (now - list[at]) / per_ms
    local bucket = bucket_of(span_ms)
    local by_bucket = by_name[name]
    if not by_bucket then
      by_bucket = {}
      by_name[name] = by_bucket
    end
    local group = by_bucket[bucket]
    if group then
      group.count, group.sum = group.count + 1, group.sum + span_ms
      group.greatest = span_ms > group.greatest and span_ms or group.greatest
    else
      group = { key = note_key(kind, name), bucket = bucket, count = 1, sum = span_ms, greatest = span_ms }
      by_bucket[bucket], groups[#groups + 1] = group, group
    end
  end
  for _, group in ipairs(groups) do
    note_alike(queue, group.key, group.bucket, group.count, group.sum, group.greatest)
  end
end

-- The statistics, a hash, and the changes by the notes of calls (see `leave_notes`):
--   names                       the first names that were met, each after its length
--   <period><slot>:<name>       a minute, hour or day of all jobs, or of those of a name: its number since 1970, which
--                               shows whether the slot was taken over; how many were enqueued, acked, retried, failed,
--                               reclaimed and cancelled; how long they waited and ran: the sum and the greatest, and of
--                               each bucket how many

local MOST_NAMES = 100
local PERIODS = {
  minute = { letter = 'm', length_ms = 60000, slots = 120 },
  hour = { letter = 'h', length_ms = 3600000, slots = 72 },
  day = { letter = 'd', length_ms = 86400000, slots = 90 },
}
local NUMBER_AND_COUNTS = '>I4I5I5I5I5I5I5'
local SPREAD = '>ddH'
-- The target of a kind of note: the place of a count, and one of two spreads.
local KINDS = {
  e = { place = 1 },
  d = { place = 4 },
  r = { place = 5 },
  c = { place = 6 },
  w = { spread = 'wait' },
  a = { place = 2, spread = 'run' },
  t = { place = 3, spread = 'run' },
  b = { place = 4, spread = 'run' },
}

local function field_of(period, number, name)
  return string.format('%s%d:%s', period.letter, number % period.slots, name)
end

local function add_to_bucket(spread, bucket, count)
  local flat, place = spread.flat, spread.places[bucket]
  if not place then
    place = #flat + 2
    flat[place - 1], flat[place], spread.places[bucket] = bucket, 0, place
  end
  flat[place] = flat[place] + count
end

local function new_spread()
  return { sum = 0, greatest = 0, flat = {}, places = {} }
end

-- The counts of a name, or of all, and the spans; claims, the last of the counts, and the spans of mere counts are not
-- kept.
local function new_tally(name)
  local spreads = { wait = new_spread(), run = new_spread(), none = new_spread() }
  return { name = name, counts = { 0, 0, 0, 0, 0, 0, 0 }, spreads = spreads }
end

-- Adds the buckets of a flat list: each, and how many.
local function add_buckets(spread, list)
  for at = 1, #list, 2 do
    add_to_bucket(spread, list[at], list[at + 1])
  end
end

local function add_span(spread, sum, greatest)
  spread.sum = spread.sum + sum
  if greatest > spread.greatest then
    spread.greatest = greatest
  end
end

-- The target of the notes of a key; new tallies are added to the list. Mere counts have a spread that is never read.
local function target_of(tallies, key)
  local kind, name = KINDS[string.sub(key, 1, 1)], string.sub(key, 2)
  local tally = tallies.by_name[name]
  if not tally then
    tally = new_tally(name)
    tallies.by_name[name], tallies[#tallies + 1] = tally, tally
  end
  local target =
    { counts = tally.counts, place = kind.place or 7, spread = tally.spreads[kind.spread or 'none'] }
  tallies.by_key[key] = target
  return target
end

-- The notes of each name in each minute: minutes in the order in which they were met, and lists of tallies by minute.
local function tallies_of_notes(notes)
  -- Notes without a minute are left out: the notes before them are lost.
  local minutes, tallies, at, last = {}, { by_name = {}, by_key = {} }, 1, #notes
  local unpack_from = struct.unpack
  while at <= last do
    local key, bucket, count, sum, greatest
    key, bucket, count, sum, greatest, at = unpack_from('>Bc0BHdd', notes, at)
    if key == 'm' then
      if not minutes[sum] then
        minutes[sum], minutes[#minutes + 1] = { by_name = {}, by_key = {} }, sum
      end
      tallies = minutes[sum]
    else
      local target = tallies.by_key[key] or target_of(tallies, key)
      local counts, place, spread = target.counts, target.place, target.spread
      counts[place] = counts[place] + count
      local flat, at_bucket = spread.flat, spread.places[bucket]
      if at_bucket then
        flat[at_bucket] = flat[at_bucket] + count
      else
        add_to_bucket(spread, bucket, count)
      end
      spread.sum = spread.sum + sum
      if greatest > spread.greatest then
        spread.greatest = greatest
      end
    end
  end
  return minutes
end

local function parse_names(packed)
  local names, at = {}, 1
  while at <= #packed do
    local length = string.byte(packed, at)
    names[#names + 1] = string.sub(packed, at + 1, at + length)
    at = at + 1 + length
  end
  return names
end

-- The sum of several tallies; a single one is its own.
local function sum_of(tallies)
  if #tallies == 1 then
    return tallies[1]
  end
  local all = new_tally('')
  for _, tally in ipairs(tallies) do
    for place, count in ipairs(tally.counts) do
      all.counts[place] = all.counts[place] + count
    end
    for _, part in ipairs({ 'wait', 'run' }) do
      local spread = tally.spreads[part]
      add_span(all.spreads[part], spread.sum, spread.greatest)
      add_buckets(all.spreads[part], spread.flat)
    end
  end
  return all
end

-- A stored spread and where it ends, with more added to it.
local function enlarge_spread(stored, at, spread)
  local sum, greatest, buckets, from = struct.unpack(SPREAD, stored, at)
  local flat = { struct.unpack('>' .. string.rep('BI5', buckets), stored, from) }
  local after = table.remove(flat)
  if #spread.flat == 0 then
    return string.sub(stored, at, after - 1), after
  end
  local enlarged = { sum = sum, greatest = greatest, flat = flat, places = {} }
  for place = 2, #flat, 2 do
    enlarged.places[flat[place - 1]] = place
  end
  add_buckets(enlarged, spread.flat)
  add_span(enlarged, spread.sum, spread.greatest)
  local form = SPREAD .. string.rep('BI5', #flat / 2)
  return struct.pack(form, enlarged.sum, enlarged.greatest, #flat / 2, unpack(flat)), after
end

-- A stored period, plus a tally. It takes over a slot that holds another period; that is a later one if the clock has
-- stepped back.
local function add_to_period(stored, number, tally)
  local holds = stored and struct.unpack('>I4', stored) or 0
  if holds ~= number then
    local no_spread = struct.pack(SPREAD, 0, 0, 0)
    stored = struct.pack(NUMBER_AND_COUNTS, number, 0, 0, 0, 0, 0, 0) .. no_spread .. no_spread
  end
  local found = { struct.unpack(NUMBER_AND_COUNTS, stored) }
  for place = 1, 6 do
    found[place + 1] = found[place + 1] + tally.counts[place]
  end
  local waited, next_at = enlarge_spread(stored, found[8], tally.spreads.wait)
  found[8] = nil
  return struct.pack(NUMBER_AND_COUNTS, unpack(found))
    .. waited
    .. enlarge_spread(stored, next_at, tally.spreads.run)
end

-- The names with statistics of their own, as they are stored, and each as a field.
local function read_names(packed)
  local names = { packed = packed, count = 0, known = {} }
  for _, name in ipairs(parse_names(packed)) do
    names.known[name], names.count = true, names.count + 1
  end
  return names
end

-- Whether a name has statistics of its own; a new one gets them as long as there is room.
local function has_own_statistics(names, name)
  if name ~= '' and not names.known[name] and names.count < MOST_NAMES then
    names.known[name], names.count = true, names.count + 1
    names.packed = names.packed .. string.char(#name) .. name
  end
  return names.known[name]
end

-- Enters a tally of a minute for the period that contains it: by its field, the number and the tallies of the last one.
local function enter_period(entered, period, minute, name, tally)
  local number = math.floor(minute * 60000 / period.length_ms)
  local field = field_of(period, number, name)
  local there = entered[field]
  if not there or there.number ~= number then
    there = { number = number, tallies = {} }
    entered[field] = there
  end
  there.tallies[#there.tallies + 1] = tally
end

-- The fields of the statistics that notes change, and their new values; `names` among them.
local function changed_periods(stats, notes, packed_names)
  local names, entered = read_names(packed_names), {}
  local minutes = tallies_of_notes(notes)
  for _, minute in ipairs(minutes) do
    for _, tally in ipairs(minutes[minute]) do
      local name = has_own_statistics(names, tally.name) and tally.name
      for _, period in pairs(PERIODS) do
        enter_period(entered, period, minute, '', tally)
        if name then
          enter_period(entered, period, minute, name, tally)
        end
      end
    end
  end
  local fields, changed = {}, { names = names.packed }
  for field in pairs(entered) do
    fields[#fields + 1] = field
  end
  local stored = #fields > 0 and redis.call('HMGET', stats, unpack(fields)) or {}
  for at, field in ipairs(fields) do
    local there = entered[field]
    changed[field] = add_to_period(stored[at], there.number, sum_of(there.tallies))
  end
  return changed
end

-- Folds the notes into the statistics. Returns whether it did: not if the user lacks a right to it.

local function fold(keys)
  local noted, names = redis.pcall('GET', keys.notes), redis.pcall('HGET', keys.stats, 'names')
  if type(noted) ~= 'string' or type(names) == 'table' then
    return false
  end
  local changed = changed_periods(keys.stats, noted, names or '')
  local pairs_of = {}
  for field, value in pairs(changed) do
    pairs_of[#pairs_of + 1] = field
    pairs_of[#pairs_of + 1] = value
  end
  -- Notes that were folded are not folded again.
  return type(redis.pcall('DEL', keys.notes)) == 'number'
    and type(redis.pcall('HSET', keys.stats, unpack(pairs_of))) == 'number'
end

-- The notes and counts of a call for the statistics.
local function packed_notes(queue)
  local packed = { queue.noted }
  local counted = queue.counted or {}
  for _, key in ipairs(counted) do
    packed[#packed + 1] = struct.pack(NOTE, #key, key, 0, counted[key], 0, 0)
  end
  return table.concat(packed)
end

-- Notes of calls for the statistics, concatenated. Each has the length of its key in a byte, the key, which is a letter
-- and the name of the jobs, or none if that is too long; a bucket in a byte, how many jobs in two, and as doubles a sum
-- and the greatest.
--   w a t b    jobs that waited, or ran until they were acked, retried, failed, all of them as long as the bucket says (see
--              shared/queue/statistics); in milliseconds
--   e d r c    jobs that were enqueued, died without having run to an end, were reclaimed, cancelled
--   m          from here on notes are of the minute since 1970 that is in the place of the sum
-- When there are many of them they are folded: added to the hash of statistics. Both expire when their newest day is no
-- longer returned: an unused queue keeps no statistics.
local NOTE = '>Bc0BHdd'
local MOST_NOTES = 16384
-- A day more than is returned.
local NOTES_KEPT_MS = '7862400000'

-- Notes end no call: if the user lacks a right to them there are none.
local function leave_notes(keys, queue, noted)
  local minute = queue.now_ms / 60000 - queue.now_ms / 60000 % 1
  local is_new = minute ~= queue.minute
  if is_new then
    noted = struct.pack(NOTE, 1, 'm', 0, 0, minute, 0) .. noted
  end
  local length = redis.pcall('APPEND', keys.notes, noted)
  if type(length) ~= 'number' then
    return
  end
  queue.minute = minute
  if length > MOST_NOTES then
    if fold(keys) then
      redis.pcall('PEXPIRE', keys.stats, NOTES_KEPT_MS)
      queue.minute = 0
    end
  elseif is_new then
    redis.pcall('PEXPIRE', keys.notes, NOTES_KEPT_MS)
  end
end

-- Appends a spread to a list: the sum and the greatest in microseconds, and the buckets as they are stored. Returns
-- where it ends.
local function report_spread(reported, stored, at)
  local sum, greatest, buckets, from = struct.unpack(SPREAD, stored, at)
  reported[#reported + 1] = math.floor(sum * 1000 + 0.5)
  reported[#reported + 1] = math.floor(greatest * 1000 + 0.5)
  reported[#reported + 1] = string.sub(stored, from, from + buckets * 6 - 1)
  return from + buckets * 6
end

-- Appends a stored period to a list, unless its slot holds another one.
local function report_period(reported, stored, number, length_ms)
  if not stored or struct.unpack('>I4', stored) ~= number then
    return
  end
  local found = { struct.unpack(NUMBER_AND_COUNTS, stored) }
  reported[#reported + 1] = number * length_ms
  for place = 2, 7 do
    reported[#reported + 1] = found[place]
  end
  report_spread(reported, stored, report_spread(reported, stored, found[8]))
end
