import { type Driver, type Reply, ServerReplyError } from '../driver.ts'
import { withTestClock } from './test-clock.ts'
import {
  type Arguments,
  type Contract,
  decodeAnswer,
  encodeArguments,
  operationOf,
  scriptOf,
} from './vector-contract.ts'
import type { Value } from './vector-value.ts'

/**
 * Runs one operation of a contract on the test clock. `prefix` begins each key: `shop:{feed:room}:`. Resolves to the
 * status word and the values of the answer; rejects with the server's error.
 */
export async function runOperation(
  driver: Driver,
  contract: Contract,
  name: string,
  prefix: string,
  args: Arguments,
): Promise<Value[]> {
  const operation = operationOf(contract, name)
  const onClock = withTestClock(driver, contract.clock ?? '')
  const call = {
    script: scriptOf(name, operation),
    keys: operation.keys.map(({ part }) => `${prefix}${part}`),
    args: encodeArguments(operation.arguments, args),
  }
  const reply = await onClock.run({ ...call, send: 'hash' }).catch((error: unknown): Promise<Reply> => {
    if (!(error instanceof ServerReplyError) || error.word !== 'NOSCRIPT') throw error
    return onClock.run({ ...call, send: 'source' })
  })
  return decodeAnswer(operation, reply)
}
