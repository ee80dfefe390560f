/** What is used of a response of Node: over HTTP/2 it is the stream that tells. */
export interface Closing {
  readonly destroyed?: boolean
  readonly stream?: { readonly destroyed: boolean } | null
  once(event: 'close' | 'finish', listener: () => void): unknown
}

/** Runs the task once the response has been sent or its client has left; now, where that was while the store was asked. */
export function whenClosed(response: Closing, task: () => void): void {
  if (isClosed(response)) task()
  else response.once('close', task)
}

export function isClosed({ destroyed, stream }: Closing): boolean {
  return destroyed ?? stream?.destroyed ?? false
}
