-- What `open` answers, if it can read its key and finds this layout there; else nil, and why not: in a call for several keys
-- one that is of another type, or was written by a newer version, is not to harm the others.
local function try_open(open, layout)
  local ok, known = pcall(open)
  if not ok then
    -- A table where the server is 7.0 or newer.
    return nil, type(known) == 'table' and known.err or known
  end
  if known.layout ~= layout then
    return nil, 'LAYOUT ' .. known.layout
  end
  return known
end
