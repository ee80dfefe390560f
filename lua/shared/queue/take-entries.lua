-- Taking what comes from the outbox of another queue.

-- As far as one call goes, in about as many commands; see src/queue/work-of.ts for what one that enqueues may have.
local MOST_TAKEN_WORK = 2000

-- What a job takes with its tags and its parents.
local function work_of(specs)
  local work = 4
  for _, texts in ipairs({ specs[18], specs[19] }) do
    local _, count = string.gsub(texts, '%z', '')
    work = work + (texts == '' and 0 or count + 1)
  end
  return work
end

local function take_job(keys, meta, queue, tally, packed, now_us)
  begin_queue(meta, queue, now_us)
  begin_jobs(keys, queue)
  local seq, specs = exact(number_jobs(queue, 1, now_us)), unpack_spec(packed)
  enqueue_spec(keys, queue, tally, specs, 1, 0, seq, now_us)
  return work_of(specs)
end

-- `from.newest`: the newest number that came from there. Answers how many entries were taken, or passed over.
local function take_entries(keys, meta, queue, tally, from, entries, entries_at, now_us)
  local work, taken = 0, 0
  for at = entries_at, #entries, 2 do
    if work >= MOST_TAKEN_WORK then
      break
    end
    taken = taken + 1
    local number, what = tonumber(entries[at]), entries[at + 1]
    local kind, rest = string.sub(what, 1, 1), string.sub(what, 2)
    if kind == 'a' then
      hear_of_unknown(keys, queue, from.source, rest, number, math.floor(now_us / 1000))
    elseif number > from.newest then
      -- What came before is passed over. A late copy must not tell of another job that has that id by now.
      from.newest = number
      if kind == 'e' then
        local _, id = unpack_end(rest)
        hear_of_parent(keys, queue, from.source, id, rest)
      else
        work = work + take_job(keys, meta, queue, tally, rest, now_us)
      end
    end
  end
  return taken
end
