-- A call reads or returns no more payloads once they reach this.
local CALL_BYTES = 4194304

-- A larger body is stored apart from its element. So a call that needs no bodies reads at most this much of each, and
-- knows before reading how many are too many.
local INLINE_BYTES = 16384

-- The work of one call. An element also costs its bytes, because a body may have 4 MiB: a loop over elements spends a
-- budget until their number or their bytes are used up. The element that exhausts it is still processed. So a call
-- processes at least one, which is progress, and at most CALL_BYTES plus one element.

-- `more_bytes`: bytes that a call adds, if it removes as much.
local function budget_of(elements, more_bytes)
  return { elements = elements, bytes = CALL_BYTES + (more_bytes or 0) }
end

-- Whether one more element may be processed.
local function is_left(budget)
  return budget.elements > 0 and budget.bytes > 0
end

local function spend(budget, elements, bytes)
  budget.elements = budget.elements - elements
  budget.bytes = budget.bytes - bytes
end

-- How many elements one command may read before their bytes are known, each of at most INLINE_BYTES.
local function at_once(budget)
  return math.min(budget.elements, math.max(1, math.floor(budget.bytes / INLINE_BYTES)))
end
