-- A call reads or answers no more payloads behind the one with which they reach this.
local CALL_BYTES = 4194304

-- A body of more bytes than this is not stored where elements are listed, but beside: what needs no bodies reads no more than this
-- of each, and can tell before it reads how many are too many.
local INLINE_BYTES = 16384

-- How much one call works on. An element costs by its bytes too, for a body may have 4 MiB: whoever walks over elements takes them
-- from a budget, until their number or their bytes are used up. The element that uses them up is still taken. So a call works on
-- one at least, which is progress, and on no more than CALL_BYTES and one element.

-- `more_bytes`: of what a call adds, where it removes as much.
local function budget_of(elements, more_bytes)
  return { elements = elements, bytes = CALL_BYTES + (more_bytes or 0) }
end

-- Whether one more may be taken.
local function is_left(budget)
  return budget.elements > 0 and budget.bytes > 0
end

local function spend(budget, elements, bytes)
  budget.elements = budget.elements - elements
  budget.bytes = budget.bytes - bytes
end

-- How many elements one command may read whose bytes are known only then, each of INLINE_BYTES at most.
local function at_once(budget)
  return math.min(budget.elements, math.max(1, math.floor(budget.bytes / INLINE_BYTES)))
end
