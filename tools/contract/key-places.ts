import type { Expression } from 'luaparse'
import type { RedisCall } from './redis-calls.ts'
import { literal } from './scope.ts'

/** The arguments of a call that must be keys, or why they cannot be found. */
export type Places = { readonly keys: readonly Expression[] } | { readonly message: string }

export function keyPlaces(call: RedisCall): Places {
  const places = call.command.keys
  if (places === 'none') return { keys: [] }
  if (places === 'after STREAMS') return afterStreams(call)
  if ('count' in places) return counted(call, places.count, places.also)
  const last = places.last < 0 ? call.args.length : places.last
  const keys: Expression[] = []
  for (let place = places.first; place <= last; place += places.step) take(call, place, keys)
  return keys.length === 0
    ? { message: `${call.name} has no key here: write it after the command, as keys.name` }
    : { keys }
}

function counted(call: RedisCall, count: number, also: number | undefined): Places {
  const counter = call.args[count - 1]
  if (counter?.type !== 'NumericLiteral')
    return {
      message: `the number of keys of ${call.name} is not written out: write it as a number, such as 2`,
    }
  const keys: Expression[] = []
  if (also !== undefined) take(call, also, keys)
  const last = Math.min(count + counter.value, call.args.length)
  for (let place = count + 1; place <= last; place++) take(call, place, keys)
  const wanted = counter.value + (also === undefined ? 0 : 1)
  return keys.length === wanted
    ? { keys }
    : {
        message: `${call.name} has ${counter.raw} keys by its number, and not as many after it: write the number of keys that follow`,
      }
}

function afterStreams(call: RedisCall): Places {
  const at = call.args.findIndex((argument) => literal(argument) === 'STREAMS')
  const rest = call.args.slice(at + 1)
  if (at < 0 || rest.length === 0 || rest.length % 2 !== 0) {
    return { message: `${call.name} does not show its streams: write 'STREAMS', the keys, and as many ids` }
  }
  return { keys: rest.slice(0, rest.length / 2) }
}

function take(call: RedisCall, place: number, keys: Expression[]): void {
  const key = call.args[place - 1]
  if (key) keys.push(key)
}
