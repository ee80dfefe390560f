-- Other parents for a child that waits; see shared/queue/parents.

-- Whether a parent may be added to a child: it is older, or not known. Another queue is not asked here.
local function is_older(keys, parent, seq)
  if string.sub(parent, 1, 1) ~= 'l' then
    return false
  end
  local found = find_job(keys.jobs, keys.ids, string.sub(parent, 2))
  return not found or tonumber(found) < tonumber(seq)
end

-- What a child waits for: its refs, and what else stands with them.
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

local function add_parent(keys, queue, seq, wants, parent)
  local ref = link_here(keys, queue, string.sub(parent, 2))
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

local function remove_parent(keys, seq, wants, parent)
  local ref = parent
  if string.sub(parent, 1, 1) == 'l' then
    ref = find_job(keys.jobs, keys.ids, string.sub(parent, 2)) or ''
  end
  for at, other in ipairs(wants.refs) do
    if other == ref then
      table.remove(wants.refs, at)
      redis.call('ZREM', keys.children, ref .. '\0' .. seq)
      unname_parents(keys, { ref })
      return
    end
  end
end

local function change_parent(keys, queue, seq, wants, adds, parent)
  if adds then
    add_parent(keys, queue, seq, wants, parent)
  else
    remove_parent(keys, seq, wants, parent)
  end
end
