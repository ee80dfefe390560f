-- What is known of a partition whose counts are in SQL and shown here: one hash, read once a call.
--   layout         the form of the stored data
--   turn           moves on whenever notes are settled, so that nobody settles them twice; begins with the time, so that it is
--                  another one in another life of the server
--   version        of SQL that the whole partition shows
--   showing        of SQL that is being shown, page after page; 0: none is
--   newest         of SQL that a single value is of, because it was read later than the version; 0: none is
--   place          where the counts are in SQL; not there: nobody could tell
local BOARD_LAYOUT = '1'

local function open_board(board)
  local stored = redis.call('HMGET', board, 'layout', 'turn', 'version', 'showing', 'newest')
  return {
    layout = stored[1] or BOARD_LAYOUT,
    turn = tonumber(stored[2] or 0),
    version = tonumber(stored[3] or 0),
    showing = tonumber(stored[4] or 0),
    newest = tonumber(stored[5] or 0),
  }
end
