// The run of the page; none yet.
export async function startRun() {
  return null;
}
