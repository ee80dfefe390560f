-- New children; see shared/queue/parents.

-- A parent of this queue, by its id. Answers its ref, or nil where there is no such job.
local function link_here(keys, queue, id)
  local seq, record, run = find_job(keys.jobs, keys.ids, id)
  if not seq then
    return nil
  end
  if run and run.state == 'f' then
    link_done(keys, queue, seq, record, run)
  elseif run and run.state == 'd' then
    local _, kind, message = unpack_failure(redis.call('HGET', keys.jobs, 'e' .. seq))
    end_parent(keys, queue, seq, read_job(record).id, 'd', kind .. '\0' .. message)
  elseif not run or not has_flag(run.flags, PARENT) then
    local at_ms = math.floor(seq / 1000)
    local packed = run
        and pack_run(
          run.state,
          run.token,
          run.attempts,
          run.at_ms,
          run.size,
          flagged(run.flags, PARENT),
          run.name
        )
      or pack_run('r', 0, 0, at_ms, #record, PARENT, read_job(record, queue.usual).name)
    redis.call('HSET', keys.jobs, 'r' .. seq, packed)
  end
  return seq
end

-- One of another queue is asked after at once, by whoever sees to it; see CHORES in src/queue/chores.ts.
local function link_elsewhere(keys, queue, ref, now_ms)
  if redis.call('ZADD', keys.parents, 'NX', string.format('%.0f', now_ms), ref) == 1 then
    queue.chores = with_flag(queue.chores, ASK_AFTER)
    set_mark(queue, DEPENDENCIES)
    note_due(queue, now_ms)
  end
end

-- The ref of a parent of this queue, or nil. Jobs of one call often have the same.
local function known_here(keys, queue, id)
  local known = queue.linked
  if not known then
    known = {}
    queue.linked = known
  end
  if known[id] == nil then
    known[id] = link_here(keys, queue, id) or false
  end
  return known[id] or nil
end

-- Of a new job: '<ref>\0<child>' for each of its parents, and one job more that names each.
local function store_links(keys, seq, refs)
  local links, counts = {}, {}
  for at, ref in ipairs(refs) do
    links[at * 2 - 1], links[at * 2] = '0', ref .. '\0' .. seq
    counts[at] = 'y' .. ref
  end
  redis.call('ZADD', keys.children, unpack(links))
  local fields = {}
  for at, count in ipairs(redis.call('HMGET', keys.jobs, unpack(counts))) do
    fields[at * 2 - 1], fields[at * 2] = counts[at], string.format('%d', (count or 0) + 1)
  end
  redis.call('HSET', keys.jobs, unpack(fields))
end

-- Links a new job to its parents: 'l<id>' and 'q<queue>\1<id>', one behind the other with '\0' between. Answers how many
-- it waits for; one that is not known is taken for done. A few commands, however many they are.
local function link_parents(keys, queue, seq, parents, policy, delay_ms, now_ms)
  local refs, seen = {}, {}
  for parent in string.gmatch(parents, '[^%z]+') do
    local ref = parent
    if string.sub(parent, 1, 1) == 'l' then
      ref = known_here(keys, queue, string.sub(parent, 2))
    else
      link_elsewhere(keys, queue, ref, now_ms)
    end
    if ref and not seen[ref] then
      seen[ref] = true
      refs[#refs + 1] = ref
    end
  end
  if #refs > 0 then
    store_links(keys, seq, refs)
    local head = string.format('%s%d %.0f', policy, #refs, delay_ms)
    redis.call('HSET', keys.jobs, 'd' .. seq, head .. '\0' .. table.concat(refs, '\0'))
  end
  return #refs
end
