extension Pattern { struct DirectForm { func matches(_ text: Text) -> Bool { false } } }
