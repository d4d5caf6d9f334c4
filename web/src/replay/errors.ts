// What is wrong with a file, in words that follow its name.
export class NotARecording extends Error {
  override name = "NotARecording";
}
