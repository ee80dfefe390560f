import { ConnectionLostError, ServerReplyError } from '../../driver.ts'

/** Once one node has answered, the others are waited for so long. */
const PATIENCE_MS = 500

/** A server that answers so takes no question just now. */
const PASSING = new Set(['LOADING', 'BUSY', 'MASTERDOWN', 'CLUSTERDOWN', 'READONLY'])

/**
 * What the nodes of a cluster answer, without those that are silent or away while others are not: one of them is not to keep
 * anybody from the others. Rejects when none answers, or is there, and when one refuses for good. Keeps no process alive.
 */
export function thoseThatAnswer<Answer>(asked: readonly Promise<Answer>[]): Promise<Answer[]> {
  if (asked.length === 0) return Promise.reject(new ConnectionLostError('no node is known', false))
  return new Promise((resolve, reject) => {
    const answers: Answer[] = []
    let left = asked.length
    let timer: NodeJS.Timeout | undefined
    const end = (error: unknown): void => {
      clearTimeout(timer)
      if (answers.length > 0) resolve(answers)
      else reject(error)
    }
    const over = (error?: unknown): void => {
      left -= 1
      if (left === 0) end(error)
    }
    for (const each of asked) {
      each.then(
        (answer) => {
          answers.push(answer)
          if (timer === undefined) timer = setTimeout(end, PATIENCE_MS).unref()
          over()
          return answer
        },
        (error: unknown) => {
          if (error instanceof ServerReplyError && !PASSING.has(error.word)) reject(error)
          over(error)
        },
      )
    }
  })
}
