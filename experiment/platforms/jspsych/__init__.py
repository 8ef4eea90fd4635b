"""jsPsych: our page in a folder, and the data of any jsPsych experiment."""
