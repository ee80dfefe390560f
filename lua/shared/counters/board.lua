-- The state of a partition whose counts are in SQL and shown here: one hash, read once a call.
--   layout         the form of the stored data
--   turn           increases whenever notes are settled, so that none are settled twice; starts from the time, so that it
--                  differs in another life of the server
--   version        of SQL that the whole partition shows
--   showing        of SQL that is being shown, page after page; 0: none
--   newest         of SQL, of a single value that was read later than the version; 0: none
--   place          place of the counts in SQL; absent: unknown
local BOARD_LAYOUT = '1'

local function read_board(board)
  local stored = redis.call('HMGET', board, 'layout', 'turn', 'version', 'showing', 'newest')
  return {
    layout = stored[1] or BOARD_LAYOUT,
    turn = tonumber(stored[2] or 0),
    version = tonumber(stored[3] or 0),
    showing = tonumber(stored[4] or 0),
    newest = tonumber(stored[5] or 0),
  }
end

local function open_board(board)
  local state = read_board(board)
  if state.layout ~= BOARD_LAYOUT then
    return redis.error_reply('LAYOUT ' .. state.layout)
  end
  return nil, state
end

local function save_board(board, state)
  redis.call(
    'HSET',
    board,
    'layout',
    state.layout,
    'turn',
    exact(state.turn),
    'version',
    exact(state.version),
    'showing',
    exact(state.showing),
    'newest',
    exact(state.newest)
  )
end

-- A partition without unsettled notes expires when the last of its values is due.
local function let_board_vanish(keys, retain_ms)
  if retain_ms > 0 and redis.call('EXISTS', keys.noted) == 0 then
    local ms = exact(retain_ms)
    redis.call('PEXPIRE', keys.shown, ms)
    redis.call('PEXPIRE', keys.idle, ms)
    redis.call('PEXPIRE', keys.ahead, ms)
    redis.call('PEXPIRE', keys.board, ms)
  end
end

-- Moves increments that were set aside, all of them if they are not too many, into the sealed batch, which is empty
-- before.
local function fill_batch(keys, limit)
  if redis.call('HLEN', keys.rest) <= limit then
    redis.call('RENAME', keys.rest, keys.sealed)
    return
  end
  local some = redis.call('HRANDFIELD', keys.rest, exact(limit), 'WITHVALUES')
  local ids = {}
  for at = 1, #some, 2 do
    ids[#ids + 1] = some[at]
  end
  redis.call('HSET', keys.sealed, unpack(some))
  redis.call('HDEL', keys.rest, unpack(ids))
end
