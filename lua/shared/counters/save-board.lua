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

-- A partition of which all is settled vanishes by itself, when the last of its values is due.
local function let_board_vanish(board, shown, noted, ahead, idle, retain_ms)
  if retain_ms > 0 and redis.call('EXISTS', noted) == 0 then
    local ms = exact(retain_ms)
    redis.call('PEXPIRE', shown, ms)
    redis.call('PEXPIRE', idle, ms)
    redis.call('PEXPIRE', ahead, ms)
    redis.call('PEXPIRE', board, ms)
  end
end
