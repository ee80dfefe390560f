-- A new job: a group of a repeated argument.
local SPECS = fields({
  'name:text',
  'payload:bytes',
  'id:text',
  'delay_ms:integer',
  'priority:integer',
  'max_attempts:integer',
  'max_run_ms:integer',
  'backoff:integer',
  'backoff_ms:integer',
  'backoff_max_ms:integer',
  'jitter:integer',
  'group:text',
  'unique:text',
  'until:text', -- s, d or w; see shared/queue/names
  'window_ms:integer',
  'replace:flag', -- a duplicate may replace a job that was not claimed yet
  'trace:text',
  'tags:text',
  'depends_on:text', -- see shared/queue/dependencies
  'on_dependency_failure:text',
  'idempotency_key:text',
  'result_ttl_ms:integer',
})

local function read_spec(specs, at)
  local unique = specs[at + SPECS.unique]
  return {
    name = specs[at + SPECS.name],
    id = specs[at + SPECS.id],
    priority = tonumber(specs[at + SPECS.priority]),
    max_attempts = tonumber(specs[at + SPECS.max_attempts]),
    max_run_ms = tonumber(specs[at + SPECS.max_run_ms]),
    backoff = tonumber(specs[at + SPECS.backoff]),
    backoff_ms = tonumber(specs[at + SPECS.backoff_ms]),
    backoff_max_ms = tonumber(specs[at + SPECS.backoff_max_ms]),
    jitter = tonumber(specs[at + SPECS.jitter]),
    group = specs[at + SPECS.group],
    unique = unique == '' and '' or specs[at + SPECS['until']] .. unique,
    trace = specs[at + SPECS.trace],
    tags = specs[at + SPECS.tags],
    result_ttl_ms = tonumber(specs[at + SPECS.result_ttl_ms]),
  }
end

-- Whether new jobs may change existing ones: they replace some, wait for some, or take over the id of a done one.
local function meets_others(queue, specs, specs_at)
  for at = specs_at, #specs, #SPECS do
    if specs[at + SPECS.replace] == '1' or specs[at + SPECS.depends_on] ~= '' then
      return true
    end
  end
  return queue.done > 0
end

-- The commands after the first write, each once on nothing: none for a single job that goes to the list.
local function try_places(keys, specs, specs_at)
  local are_many, is_grouped = #specs - specs_at >= #SPECS, specs[specs_at + SPECS.group] ~= ''
  if
    are_many
    or is_grouped
    or specs[specs_at + SPECS.delay_ms] ~= '0'
    or specs[specs_at + SPECS.priority] ~= '0'
    or specs[specs_at + SPECS.tags] ~= ''
  then
    redis.call('ZADD', keys.scheduled, 'XX', '0', '')
  end
  if are_many or is_grouped then
    redis.call('HGET', keys.ids, '')
  end
end

-- Before the first job of all.
local function begin_jobs(keys, queue)
  local entry = {}
  widen(queue, MARKS.wide_jobs, entry, '~')
  if #entry > 0 then
    redis.call('HSET', keys.jobs, unpack(entry))
  end
end

-- The tally of several jobs, which are in `specs`: ready ones, when the first of the others is due, keys held for a
-- time, places and numbers of duplicates.
local function new_spec_tally(specs)
  return { specs = specs, ready = 0, soonest_ms = math.huge, windows = 0, duplicates = {} }
end

local function tally_due(tally, due_ms)
  if due_ms == 0 then
    tally.ready = tally.ready + 1
  else
    tally.soonest_ms = math.min(tally.soonest_ms, due_ms)
  end
end

local function hold_names(keys, queue, tally, at, job, seq)
  if job.id ~= '' then
    redis.call('HSET', keys.ids, 'i' .. job.id, seq)
  end
  if job.unique ~= '' then
    local till = tally.specs[at + SPECS['until']]
    local ends_ms = queue.now_ms + tally.specs[at + SPECS.window_ms]
    hold_unique(keys.ids, tally.specs[at + SPECS.unique], seq, till, ends_ms)
    tally.windows = tally.windows + (till == 'w' and 1 or 0)
  end
end

-- The number of the job that has an id, or nil. A done job that is older than the queue keeps them has lost it, and is
-- removed now: perhaps no other call would.
local function holder_of_id(keys, queue, id)
  local seq = redis.call('HGET', keys.ids, 'i' .. id)
  local keep_ms = seq and queue.done > 0 and parse_settings(queue.settings).retention_ms or 0
  if keep_ms == 0 then
    return seq or nil
  end
  local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
  local run = stored[2] and unpack_run(stored[2])
  if not run or run.state ~= 'f' or run.at_ms > queue.now_ms - keep_ms then
    return seq
  end
  redis.call('ZREM', keys.done, seq)
  queue.done = queue.done - run.size
  erase_job(keys, queue, seq, read_job(stored[1], queue.usual), run)
  return nil
end

-- Enqueues the job at a place of the specs of a tally, unless it is a duplicate.
local function enqueue_spec(keys, queue, tally, at, place, seq)
  local specs = tally.specs
  local job, payload, delay_ms =
    read_spec(specs, at), specs[at + SPECS.payload], tonumber(specs[at + SPECS.delay_ms])
  local due_ms = delay_ms > 0 and queue.now_ms + delay_ms or 0
  local key = specs[at + SPECS.idempotency_key]
  local repeated = key ~= '' and job_of_key(keys.ids, key, queue.now_ms)
  local other = repeated
    or job.id ~= '' and holder_of_id(keys, queue, job.id)
    or job.unique ~= '' and holder_of_unique(keys.ids, specs[at + SPECS.unique], queue.now_ms)
  if key ~= '' and not repeated then
    remember_job_key(keys.ids, key, other or seq, queue.now_ms)
    tally.windows = tally.windows + 1
  end
  if other then
    tally.duplicates[#tally.duplicates + 1] = place
    tally.duplicates[#tally.duplicates + 1] = tonumber(other)
    queue.enqueued = queue.enqueued - 1
    if specs[at + SPECS.replace] == '1' and not repeated then
      replace_job(keys, queue, other, job, payload, due_ms)
      tally_due(tally, due_ms)
    end
    return
  end
  hold_names(keys, queue, tally, at, job, seq)
  if queue.linked then
    -- The job, or none, that had this id until now.
    queue.linked[job.id], queue.linked[seq] = nil, nil
  end
  happened(queue, 'enqueued', seq, job, nil, '')
  count_job(queue, 'e', job.name)
  local dependencies = specs[at + SPECS.depends_on]
  if
    dependencies ~= ''
    and link_dependencies(keys, queue, seq, dependencies, specs[at + SPECS.on_dependency_failure], delay_ms)
      > 0
  then
    add_blocked(keys, queue, seq, job, payload)
  else
    add_job(keys, queue, seq, job, payload, due_ms)
    tally_due(tally, due_ms)
  end
end

-- The work after all jobs are enqueued.
local function see_to_new(keys, queue, tally)
  if queue.left then
    sweep_ready(keys, queue, queue.left)
  end
  if tally.windows > 0 then
    forget_old_uniques(keys.ids, tally.windows, queue.now_ms)
  end
  if queue.idle > 0 then
    call_idle(keys.idle, queue, math.min(tally.ready, 8))
    local soonest_ms = math.min(tally.soonest_ms, queue.settling and queue.now_ms or math.huge)
    if soonest_ms < math.huge then
      see_to(keys.idle, queue, soonest_ms)
    end
  end
end

-- A job for another queue, as text.
local function pack_spec(specs, at)
  local parts = {}
  for place = 1, #SPECS do
    local field = specs[at + place - 1]
    parts[place] = struct.pack('>I4', #field) .. field
  end
  return table.concat(parts)
end

local function unpack_spec(packed)
  local specs, at = {}, 1
  for place = 1, #SPECS do
    specs[place], at = struct.unpack('>I4c0', packed, at)
  end
  return specs
end

-- Enqueues jobs.

-- A job is visible from `due_ms` on; 0: at once.
local function add_job(keys, queue, seq, job, payload, due_ms)
  local fields, size, flags = record_fields(queue, seq, full_head(job), payload)
  if due_ms == 0 then
    if flags ~= 0 then
      add_run(fields, seq, pack_new_run('r', queue.now_ms, size, flags, job.name))
    end
    redis.call('HSET', keys.jobs, unpack(fields))
    if place_ready(keys, queue, job, seq, size, 'r') == 's' then
      local run = pack_new_run('s', queue.now_ms, size, flags, job.name)
      redis.call('HSET', keys.jobs, 'r' .. seq, run)
    end
  else
    add_run(fields, seq, pack_new_run('s', due_ms, size, flags, job.name))
    redis.call('HSET', keys.jobs, unpack(fields))
    redis.call('ZADD', keys.scheduled, string.format('%.0f', due_ms), seq)
    note_due(queue, due_ms)
    queue.scheduled = queue.scheduled + size
  end
  if job.tags ~= '' then
    enter_tags(keys.tagged, seq, job.tags)
  end
end

-- A job that waits for others; see shared/queue/dependencies.
local function add_blocked(keys, queue, seq, job, payload)
  local fields, size, flags = record_fields(queue, seq, full_head(job), payload)
  add_run(fields, seq, pack_new_run('w', queue.now_ms, size, with_flag(flags, FLAGS.dependent), job.name))
  redis.call('HSET', keys.jobs, unpack(fields))
  redis.call('ZADD', keys.blocked, seq, seq)
  mark_place(queue, job)
  if job.tags ~= '' then
    enter_tags(keys.tagged, seq, job.tags)
  end
  queue.blocked = queue.blocked + size
end

-- The offset of the numbers under which a queue gets the entries of the outbox. 0, unless the numbers of this queue
-- have gone back: then entries would have numbers that the other queue has seen. See decision 78.

local AHEAD = 'ahead '

local function ahead_of(meta, target)
  return tonumber(redis.call('HGET', meta, AHEAD .. target) or 0)
end

-- Duplicates: how they are remembered, and jobs that they replace.

-- The answer of an enqueue as text: '<first> <at> <number> …'.
local function format_enqueued(first, duplicates)
  local parts = { string.format('%.0f', first) }
  for at, number in ipairs(duplicates) do
    parts[at + 1] = string.format('%.0f', number)
  end
  return table.concat(parts, ' ')
end

local function first_of(remembered)
  return tonumber(string.match(remembered, '^%d+'))
end

local function duplicates_of(remembered)
  local duplicates = {}
  for number in string.gmatch(remembered, ' (%d+)') do
    duplicates[#duplicates + 1] = tonumber(number)
  end
  return duplicates
end

-- Removes a job that was not claimed yet from its state.
local function leave_place(keys, queue, seq, old, state, size)
  if state == 's' then
    redis.call('ZREM', keys.scheduled, seq)
    queue.scheduled = queue.scheduled - size
  elseif state == 'w' then
    queue.blocked = queue.blocked - size
  else
    leave_ready(keys, queue, old, seq)
    queue.ready = queue.ready - size
  end
end

-- A job that was not claimed yet takes the options and the payload of another one, but keeps its names, its
-- dependencies, its age and its history, and its place if that is the same; if delayed, its delay starts over. A job
-- that was claimed is not changed.
local function replace_job(keys, queue, seq, new, payload, due_ms)
  local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq)
  local run = stored[2] and unpack_run(stored[2])
  local state = run and run.state or 'r'
  local is_ready = state == 'r' or state == 'b'
  if not stored[1] or (run and run.attempts > 0) or not string.find(state, '[rbsw]') then
    return
  end
  local old, token, flags = read_job(stored[1], queue.usual), 0, 0
  local old_size = size_of(stored[1], run)
  if run then
    token, flags = run.token, run.flags == FLAGS.plain and 0 or run.flags
  end
  new.id, new.unique = old.id, old.unique
  happened(queue, 'replaced', seq, new, run, '')
  local fields, size, apart = record_fields(queue, seq, full_head(new), payload)
  redis.call('HSET', keys.jobs, unpack(fields))
  if apart == 0 and has_flag(flags, FLAGS.apart) then
    redis.call('HDEL', keys.jobs, 'b' .. seq)
    flags = flags - FLAGS.apart
  elseif apart ~= 0 then
    flags = with_flag(flags, FLAGS.apart)
  end
  local fresh = { token = token, attempts = 0, size = size, flags = flags, name = new.name }
  if old.tags ~= new.tags then
    leave_tags(keys.tagged, seq, old.tags, false)
    enter_tags(keys.tagged, seq, new.tags)
  end
  if is_ready and due_ms == 0 and old.group == new.group and old.priority == new.priority then
    if run or apart ~= 0 then
      local since_ms = run and run.at_ms or math.floor(seq / 1000)
      store_run(keys.jobs, seq, fresh, state, since_ms)
    end
    queue.ready = queue.ready - old_size + size
    return
  end
  leave_place(keys, queue, seq, old, state, old_size)
  if state == 'w' then
    store_run(keys.jobs, seq, fresh, 'w', run.at_ms)
    queue.blocked = queue.blocked + size
    mark_place(queue, new)
  elseif due_ms == 0 then
    local stands = place_ready(keys, queue, new, seq, size, 'r')
    if run or apart ~= 0 or stands == 's' then
      store_run(keys.jobs, seq, fresh, stands, queue.now_ms)
    end
  else
    store_run(keys.jobs, seq, fresh, 's', due_ms)
    redis.call('ZADD', keys.scheduled, string.format('%.0f', due_ms), seq)
    note_due(queue, due_ms)
    queue.scheduled = queue.scheduled + size
  end
end
