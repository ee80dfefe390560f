-- New children; see shared/queue/parents.

-- A parent of this queue, by its id. Answers its ref, or nil where there is no such job.
local function link_here(keys, queue, id)
  local seq, record, run = find_job(keys.jobs, keys.ids, id)
  if not seq then
    return nil
  end
  if run and run.state == 'f' then
    local result = redis.call('HGET', keys.jobs, 'o' .. seq) or ''
    end_parent(keys, queue, seq, read_job(record).id, 'f', result)
  elseif run and run.state == 'd' then
    local _, kind, message = unpack_failure(redis.call('HGET', keys.jobs, 'e' .. seq))
    end_parent(keys, queue, seq, read_job(record).id, 'd', kind .. '\0' .. message)
  else
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

-- Links a new job to its parents: 'l<id>' and 'q<queue>\1<id>', one behind the other with '\0' between. Answers how many
-- it waits for; one that is not known is taken for done.
local function link_parents(keys, queue, seq, parents, policy, delay_ms, now_ms)
  local refs = {}
  for parent in string.gmatch(parents, '[^%z]+') do
    local ref = parent
    if string.sub(parent, 1, 1) == 'l' then
      ref = link_here(keys, queue, string.sub(parent, 2))
    else
      link_elsewhere(keys, queue, ref, now_ms)
    end
    if ref and redis.call('ZADD', keys.children, '0', ref .. '\0' .. seq) == 1 then
      redis.call('HINCRBY', keys.jobs, 'y' .. ref, '1')
      refs[#refs + 1] = ref
    end
  end
  if #refs > 0 then
    local head = string.format('%s%d %.0f', policy, #refs, delay_ms)
    redis.call('HSET', keys.jobs, 'd' .. seq, head .. '\0' .. table.concat(refs, '\0'))
  end
  return #refs
end
