-- Jobs that wait for others, their dependencies.
--
-- A dependency is named by a ref: its number, or, of another queue, 'q<queue>\1<id>'. `children` holds, all with score
-- 0, '<ref>\0<dependent>' for each dependent that waits for it, and '<ref>\0q<queue>\1<id>' for each queue that asked
-- for it by that id. `parents` holds refs: with 0, those that have ended and have dependents to notify; with a time in
-- milliseconds, those of other queues that are due for a check then.
--
-- In the hash of jobs:
--   d<dependent>  '<policy><left> <delay_ms>\0<ref>\0<ref>…': its end if a dependency fails (b: dies, c: is cancelled,
--             r: runs nevertheless), how many it waits for, and its delay from then on
--   y<ref>    how many jobs name that dependency
--   z<ref>    how it ended, as long as that is needed: f (done), d (dead), x (cancelled), a (unknown), its
--             id, and its result (see also `keep_end` in shared/queue/ends) or its failure

local function pack_end(letter, id, text)
  return struct.pack('>c1Hc0', letter, #id, id) .. text
end

-- Letter and id; what follows begins at the third value.
local function unpack_end(packed)
  return struct.unpack('>c1Hc0', packed)
end

-- A dependency has ended: its dependents must be notified; see `settle_dependents`.
local function end_dependency(keys, queue, seq, id, letter, text)
  redis.call('HSET', keys.jobs, 'z' .. seq, pack_end(letter, id == '' and seq or id, text))
  redis.call('ZADD', keys.parents, '0', seq)
  queue.settling = true
  set_mark(queue, MARKS.dependencies)
end

local function each_ref(stored)
  return string.gmatch(string.match(stored, '%z(.*)$') or '', '[^%z]+')
end

local function unblock(keys, queue, seq, run)
  redis.call('ZREM', keys.blocked, seq)
  queue.blocked = queue.blocked - run.size
end

-- A dependent stops waiting. The links that a call removes are counted; see `MOST_WORK` in shared/queue/ready.
local function leave_dependencies(keys, queue, seq, stored)
  local links = {}
  for ref in each_ref(stored) do
    links[#links + 1] = ref .. '\0' .. seq
  end
  if #links > 0 then
    redis.call('ZREM', keys.children, unpack(links))
  end
  queue.work = (queue.work or 0) + #links
end

-- No job names that dependency any more.
local function forget_dependency(keys, ref)
  redis.call('HDEL', keys.jobs, 'y' .. ref)
  -- A dependency that has just ended is still needed for notifications.
  if redis.call('ZSCORE', keys.parents, ref) ~= '0' then
    redis.call('HDEL', keys.jobs, 'z' .. ref)
    redis.call('ZREM', keys.parents, ref)
  end
end

-- One job fewer names these dependencies, each of which is named by one. A few commands for all, more only for those
-- that no job names any more.
local function unname_dependencies(keys, refs)
  local counts, left = {}, {}
  for at, ref in ipairs(refs) do
    counts[at] = 'y' .. ref
  end
  for at, count in ipairs(#refs > 0 and redis.call('HMGET', keys.jobs, unpack(counts)) or {}) do
    if count and tonumber(count) > 1 then
      left[#left + 1] = counts[at]
      left[#left + 1] = string.format('%d', count - 1)
    else
      forget_dependency(keys, refs[at])
    end
  end
  if #left > 0 then
    redis.call('HSET', keys.jobs, unpack(left))
  end
end

-- News of a dependency in another queue; there may be no job left that needs it.
local function hear_of_dependency(keys, queue, source, id, ended)
  local ref = 'q' .. source .. '\1' .. id
  if redis.call('HEXISTS', keys.jobs, 'y' .. ref) == 1 then
    redis.call('HSET', keys.jobs, 'z' .. ref, ended)
    redis.call('ZADD', keys.parents, '0', ref)
    queue.settling = true
  end
end

-- Removes the links of a job that had dependencies: the ends kept for it are dropped, if no other job needs them.
local function drop_dependencies(keys, queue, seq)
  local stored = redis.call('HGET', keys.jobs, 'd' .. seq)
  if not stored then
    return
  end
  leave_dependencies(keys, queue, seq, stored)
  local refs = {}
  for ref in each_ref(stored) do
    refs[#refs + 1] = ref
  end
  unname_dependencies(keys, refs)
  redis.call('HDEL', keys.jobs, 'd' .. seq)
end

-- New dependents; see the top of this file.

-- Links a dependency of this queue, by its id. Returns its ref, or nil if there is no such job.
local function link_here(keys, queue, id)
  local seq, record, run = find_job(keys, id)
  if not seq then
    return nil
  end
  if run and run.state == 'f' then
    link_done(keys, queue, seq, record, run)
  elseif run and run.state == 'd' then
    local _, kind, message = unpack_failure(redis.call('HGET', keys.jobs, 'e' .. seq))
    end_dependency(keys, queue, seq, read_job(record).id, 'd', kind .. '\0' .. message)
  else
    flag_job(keys.jobs, queue, seq, record, run, FLAGS.dependency)
  end
  return seq
end

-- A dependency in another queue is checked at once, by some process; see CHORES in src/queue/source/chores.ts.
local function link_elsewhere(keys, queue, ref)
  if redis.call('ZADD', keys.parents, 'NX', string.format('%.0f', queue.now_ms), ref) == 1 then
    queue.chores = with_flag(queue.chores, CHORES.ask_after)
    set_mark(queue, MARKS.dependencies)
    note_due(queue, queue.now_ms)
  end
end

-- The ref of a dependency of this queue, or nil. Jobs of one call often have the same.
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

-- For a new job: '<ref>\0<dependent>' for each of its dependencies, and one more job that names each.
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

-- Links a new job to its dependencies: 'l<id>' and 'q<queue>\1<id>', separated by '\0'. Returns how many it waits for;
-- an unknown one is treated as done. A few commands, however many they are.
local function link_dependencies(keys, queue, seq, dependencies, policy, delay_ms)
  local refs, seen = {}, {}
  for dependency in string.gmatch(dependencies, '[^%z]+') do
    local ref = dependency
    if string.sub(dependency, 1, 1) == 'l' then
      ref = known_here(keys, queue, string.sub(dependency, 2))
    else
      link_elsewhere(keys, queue, ref)
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

-- A dependency that is done and kept. `queue.copied`: bytes of results that this call has copied; see `keep_end` in
-- shared/queue/ends.
local function link_done(keys, queue, seq, record, run)
  local id, copied, result = read_job(record).id, queue.copied or 0, ''
  if copied < CALL_BYTES then
    result = redis.call('HGET', keys.jobs, 'o' .. seq) or ''
    queue.copied = copied + #result
  else
    flag_job(keys.jobs, queue, seq, record, run, FLAGS.owed)
  end
  end_dependency(keys, queue, seq, id, 'f', result)
end

-- Changes the dependencies of a waiting dependent; see the top of this file.

-- Whether a dependency may be added to a dependent: it is older, or unknown. Other queues are not asked here.
local function is_older(keys, dependency, seq)
  if string.sub(dependency, 1, 1) ~= 'l' then
    return false
  end
  local found = find_job(keys, string.sub(dependency, 2))
  return not found or tonumber(found) < tonumber(seq)
end

-- The dependencies of a dependent: its refs, and the other stored fields.
local function read_wants(keys, seq)
  local stored = redis.call('HGET', keys.jobs, 'd' .. seq)
  local policy, delay_ms = string.match(stored, '^(%a)%d+ (%d+)')
  local refs = {}
  for ref in each_ref(stored) do
    refs[#refs + 1] = ref
  end
  return { policy = policy, delay_ms = tonumber(delay_ms), refs = refs }
end

-- Answers how many of them have not ended.
local function save_wants(keys, seq, wants)
  local left = 0
  for _, ref in ipairs(wants.refs) do
    if redis.call('ZSCORE', keys.children, ref .. '\0' .. seq) then
      left = left + 1
    end
  end
  local head = string.format('%s%d %.0f', wants.policy, left, wants.delay_ms)
  redis.call('HSET', keys.jobs, 'd' .. seq, head .. '\0' .. table.concat(wants.refs, '\0'))
  return left
end

local function add_dependency(keys, queue, seq, wants, dependency)
  local ref = link_here(keys, queue, string.sub(dependency, 2))
  for _, other in ipairs(wants.refs) do
    if other == ref then
      return
    end
  end
  if ref and redis.call('ZADD', keys.children, '0', ref .. '\0' .. seq) == 1 then
    local named = redis.call('HGET', keys.jobs, 'y' .. ref) or 0
    redis.call('HSET', keys.jobs, 'y' .. ref, string.format('%d', named + 1))
    wants.refs[#wants.refs + 1] = ref
  end
end

local function remove_dependency(keys, seq, wants, dependency)
  local ref = dependency
  if string.sub(dependency, 1, 1) == 'l' then
    ref = find_job(keys, string.sub(dependency, 2)) or ''
  end
  for at, other in ipairs(wants.refs) do
    if other == ref then
      table.remove(wants.refs, at)
      redis.call('ZREM', keys.children, ref .. '\0' .. seq)
      unname_dependencies(keys, { ref })
      return
    end
  end
end

local function change_dependency(keys, queue, seq, wants, adds, dependency)
  if adds then
    add_dependency(keys, queue, seq, wants, dependency)
  else
    remove_dependency(keys, seq, wants, dependency)
  end
end

-- Notifies dependents that their dependencies have ended; see the top of this file.

local DEPENDENCY_FAILED = 'dependency-failed'

-- Ends a dependent whose dependency died or was cancelled, and that waits no more. `message`: how the dependency ended.
local function fail_dependent(keys, queue, seq, job, run, message)
  local entry = { what = 'b', at_ms = queue.now_ms, claimed_ms = 0, kind = DEPENDENCY_FAILED }
  note_history(keys.jobs, seq, run, entry)
  happened(queue, 'dead', seq, job, run, DEPENDENCY_FAILED)
  count_job(queue, 'd', run.name)
  local ended = { state = 'd', kind = DEPENDENCY_FAILED, message = message, result = '' }
  note_end(keys.jobs, queue, seq, job, run, ended)
  end_dead(keys, queue, seq, job, run, ended)
end

-- Returns whether the dependent became ready.
local function settle_dependent(keys, queue, seq, letter, id)
  local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq, 'd' .. seq)
  local run = stored[1] and stored[2] and unpack_run(stored[2])
  if not run or run.state ~= 'w' then
    return false
  end
  local job = read_job(stored[1], queue.usual)
  local policy, left, rest = string.match(stored[3], '^(%a)(%d+)(.*)$')
  if (letter == 'd' or letter == 'x') and policy ~= 'r' then
    local dependency = "dependency '" .. id .. "' " .. (letter == 'd' and 'is dead' or 'was cancelled')
    unblock(keys, queue, seq, run)
    leave_dependencies(keys, queue, seq, stored[3])
    if policy == 'b' then
      fail_dependent(keys, queue, seq, job, run, dependency)
    else
      cancel_job(keys, queue, seq, job, run)
    end
    return false
  end
  redis.call('HSET', keys.jobs, 'd' .. seq, string.format('%s%d', policy, left - 1) .. rest)
  if tonumber(left) > 1 then
    return false
  end
  local delay_ms = tonumber(string.match(rest, '^ (%d+)'))
  return unblock_dependent(keys, queue, seq, job, run, delay_ms)
end

-- Settles at most so many, and stops once the ends that were read and put out reach CALL_BYTES; the rest is due at
-- once. Returns how many became ready.
local function settle_dependents(keys, queue, most)
  local became_ready = 0
  while most > 0 do
    local ref = redis.call('ZRANGEBYSCORE', keys.parents, '0', '0', 'LIMIT', '0', '1')[1]
    if not ref then
      return became_ready
    end
    local first, last = '[' .. ref .. '\0', '(' .. ref .. '\1'
    local members = redis.call('ZRANGEBYLEX', keys.children, first, last, 'LIMIT', '0', most)
    local ended = redis.call('HGET', keys.jobs, 'z' .. ref)
    local letter, id, rest = unpack_end(ended)
    queue.moved = (queue.moved or 0) + #ended
    local notified = 0
    for _, member in ipairs(members) do
      local dependent = string.sub(member, #ref + 2)
      redis.call('ZREM', keys.children, member)
      notified = notified + 1
      if string.sub(dependent, 1, 1) == 'q' then
        put_out_end(keys, queue, dependent, ref, letter, string.sub(ended, rest))
        if queue.moved >= CALL_BYTES then
          break
        end
      elseif settle_dependent(keys, queue, dependent, letter, id) then
        became_ready = became_ready + 1
      end
    end
    if notified == #members and #members < most then
      redis.call('ZREM', keys.parents, ref)
      if redis.call('HEXISTS', keys.jobs, 'y' .. ref) == 0 then
        redis.call('HDEL', keys.jobs, 'z' .. ref)
      end
    end
    most = queue.moved < CALL_BYTES and most - 1 - notified or 0
  end
  note_due(queue, queue.now_ms)
  return became_ready
end

-- A dependent without open dependencies: it is ready, or scheduled, if it has a delay. Returns whether it is ready.
local function unblock_dependent(keys, queue, seq, job, run, delay_ms)
  unblock(keys, queue, seq, run)
  wait_again(keys, queue, seq, job, run, queue.now_ms + delay_ms)
  return delay_ms == 0
end
