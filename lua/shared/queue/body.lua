-- Large payloads. A payload of more than INLINE_BYTES is not stored in the record of its job but under 'b' and its number, and
-- the run of the job says so: most calls need the head of a job only, and a hundred payloads of 4 MiB cannot be read in one.
-- Such a job has a run from the beginning, for only the run knows its bytes.

-- The fields that hold the record of a job, its bytes, and the flags of its run.
local function record_fields(queue, seq, head, payload)
  if #payload <= INLINE_BYTES then
    return { seq, head .. payload }, #head + #payload, 0
  end
  set_mark(queue, BODIES)
  queue.stands_apart = true
  return { seq, head, 'b' .. seq, payload }, #head + #payload, APART
end

local function add_run(fields, seq, run)
  fields[#fields + 1] = 'r' .. seq
  fields[#fields + 1] = run
end

local function size_of(record, run)
  return run and run.size or #record
end

-- The payload of a job. `flags`: those of its run, 0: it has none.
local function payload_of(jobs, seq, record, body_at, flags)
  if has_flag(flags, APART) then
    return redis.call('HGET', jobs, 'b' .. seq)
  end
  return string.sub(record, body_at)
end
